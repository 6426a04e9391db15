// Where the bars of a timeline stand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentBegin } from '../../src/protocol';
import { RunTree } from '../../src/runs/runTree';
import { ticksOf, timelineOf } from '../../src/runs/timeline';
import { finished, waiting, LEAD, Script, START } from './events';

function timeline({ events }: Script, now: number) {
  const tree = RunTree.begun(events[0]?.params as AgentBegin);
  events.forEach((event) => tree.take(event));
  return timelineOf(tree.root, now);
}

test('each turn, call and agent has a bar where it was in time, one below the other', () => {
  const { bars, title, summary } = timeline(finished(), START);

  assert.deepEqual(
    bars.map((bar) => [bar.level, bar.label, bar.kind, bar.begins, bar.lasts]),
    [
      [1, 'lead', 'run', 0, 5000],
      [2, 'Turn 1', 'turn', 1000, 500],
      [3, 'test', 'run', 5000, 5000],
      [4, 'Turn 1', 'turn', 6000, 500],
      [3, 'read_file', 'call', 10_000, 300],
      [2, 'Turn 2', 'turn', 12_000, 500],
    ],
  );
  assert.equal(title, 'lead');
  assert.match(summary, /^completed · 5\.0 s · 3 turns · 300 tokens in, 30 out · \$0\.0030$/);
});

test('the axis is as long as the last bar', () => {
  assert.equal(timeline(finished(), START).lasts, 12_500);
});

test('a bar has its time, tokens and cost, and more for who chooses it', () => {
  const { bars } = timeline(finished(), START);

  assert.deepEqual(bars.map((bar) => bar.figures), [
    '5.0 s · 300 + 30 · $0.0030',
    '0.5 s · 100 + 10 · $0.0010',
    '5.0 s · 100 + 10 · $0.0010',
    '0.5 s · 100 + 10 · $0.0010',
    '0.3 s',
    '0.5 s · 100 + 10 · $0.0010',
  ]);
  assert.match(bars[1]?.details ?? '', /^Turn 1, 0\.5 s\n100 tokens in, 10 out\nI ask\.$/);
});

test('what goes on lasts until now', () => {
  const { bars, lasts } = timeline(new Script().begin(LEAD, '').turn(LEAD, 1), START + 4000);

  assert.deepEqual(bars.map((bar) => bar.lasts), [4000, 3000]);
  assert.equal(lasts, 4000);
});

test('a screen reader hears what a bar is, how it went and when it was', () => {
  const [, turn] = timeline(finished(), START).bars;

  assert.equal(turn?.spoken, 'Turn 1, completed, 0.5 s, 100 tokens in, 10 out, 2 tool calls, I ask.; begins after 1.0 s');
});

test('ticks are round and as many as there is room for', () => {
  assert.deepEqual(ticksOf(4700, 5), [0, 1000, 2000, 3000, 4000]);
  assert.deepEqual(ticksOf(90_000, 4), [0, 50_000]);
  assert.deepEqual(ticksOf(0, 8), [0]);
});

test('a wait for side runs has a bar behind the turns before it, and a side run its own name', () => {
  const script = waiting().message(LEAD, 'given', { turn: 3, sideRuns: ['lint-1'], messageIds: [], text: 'Fine.' }).turn(LEAD, 3);
  const { bars } = timeline(script, START + 20_000);

  assert.deepEqual(
    bars.map(({ level, label, kind, begins }) => [level, label, kind, begins]),
    [
      [1, 'lead', 'run', 0],
      [2, 'Turn 1', 'turn', 1000],
      [3, 'lint-1', 'run', 6000],
      [2, 'Turn 2', 'turn', 7000],
      [2, 'waits for lint-1', 'idle', 9000],
      [2, 'Turn 3', 'turn', 11_000],
    ],
  );
  assert.equal(bars[4]?.spoken, 'lead waits for lint-1, 1.0 s; begins after 9.0 s');
});
