// What a run consists of, from its events.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentBegin, Happening } from '../../src/protocol';
import { childrenOf, findNode, idleOf, idOf, parentOf, usedBy, type Node, type RunNode } from '../../src/runs/nodes';
import { RunTree } from '../../src/runs/runTree';
import { LEAD, past, Script, START, TEST, finished, waiting } from './events';

function grown({ events }: Script, upTo = events.length): RunTree {
  const [first, ...others] = events.slice(0, upTo);
  const tree = RunTree.begun(first?.params as AgentBegin);
  others.forEach((event) => tree.take(event));
  return tree;
}

function drawn(node: Node): unknown {
  const name = node.kind === 'run' ? node.agent : node.kind === 'turn' ? node.number : node.name;
  return [name, node.status, ...childrenOf(node).map(drawn)];
}

test('turns stand below their agent, calls below their turn, and an agent in the place of its call', () => {
  const { root } = grown(finished());

  assert.deepEqual(drawn(root), [
    'lead',
    'completed',
    [1, 'completed', ['test', 'completed', [1, 'completed']], ['read_file', 'completed']],
    [2, 'completed'],
  ]);
});

test('every node but the root knows what it stands below, and is found by its id', () => {
  const { root } = grown(finished());
  const check = (node: Node) => {
    for (const child of childrenOf(node)) {
      assert.equal(parentOf(child), node);
      assert.equal(findNode(root, idOf(child)), child);
      check(child);
    }
  };
  check(root);
  assert.equal(parentOf(root), undefined);
});

test('text grows while it is written, and is whole when the turn ends', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).text(LEAD, 1, 'I ').text(LEAD, 1, 'as');

  const tree = grown(script);
  assert.equal(tree.root.turns[0]?.text, 'I as');
  assert.equal(tree.root.turns[0]?.status, 'running');

  script.said(LEAD, 1, 'I ask.');
  tree.take(script.events.at(-1) as Happening);
  assert.equal(tree.root.turns[0]?.text, 'I ask.');
});

test('what is sent again begins its text anew', () => {
  const { root } = grown(new Script().begin(LEAD, '').turn(LEAD, 1).text(LEAD, 1, 'I a').retry(LEAD, 1, 'busy'));

  assert.equal(root.turns[0]?.text, '');
  assert.equal(root.turns[0]?.retries[0]?.message, 'busy');
});

test('events that are known already change nothing', () => {
  const script = finished();
  const tree = grown(script);

  assert.deepEqual(script.events.flatMap((event) => tree.take(event)), []);
  assert.equal(tree.root.turns.length, 2);
});

test('of two calls of the same agent each gets its own run', () => {
  const other = { ...TEST, runId: 'u' };
  const script = new Script()
    .begin(LEAD, '')
    .turn(LEAD, 1)
    .said(LEAD, 1, '')
    .call(LEAD, 1, 'c1', 'call_agent', { agent: 'test', task: 'one' })
    .call(LEAD, 1, 'c2', 'call_agent', { agent: 'test', task: 'two' })
    .begin(other, 'two')
    .begin(TEST, 'one');

  const calls = grown(script).root.turns[0]?.calls ?? [];
  assert.deepEqual(calls.map((call) => call.child?.runId), ['t', 'u']);
});

test('a run that was taken for that of another call is put right when the calls end', () => {
  const other = { ...TEST, runId: 'u' };
  const script = new Script()
    .begin(LEAD, '')
    .turn(LEAD, 1)
    .said(LEAD, 1, '')
    .call(LEAD, 1, 'c1', 'call_agent', { agent: 'test', task: 'same' })
    .call(LEAD, 1, 'c2', 'call_agent', { agent: 'test', task: 'same' })
    .begin(other, 'same')
    .begin(TEST, 'same')
    .result(LEAD, 1, 'c1', 'call_agent', 'done', { childRunId: 't' });

  const turn = grown(script).root.turns[0];
  assert.deepEqual(turn?.calls.map((call) => call.child?.runId), ['t', 'u']);
  assert.ok(turn?.calls.every((call) => call.child?.caller === turn));
});

test('a run of which no call is known stands below its caller', () => {
  const { root } = grown(new Script().begin(LEAD, '').turn(LEAD, 1).begin(TEST, 'x').end(TEST));

  assert.deepEqual(drawn(root), ['lead', 'running', [1, 'running'], ['test', 'completed']]);
});

test('a call that the user did not allow is not one that failed', () => {
  const denied = 'write_file was not allowed: the user said no';
  const script = new Script()
    .begin(LEAD, '')
    .turn(LEAD, 1)
    .said(LEAD, 1, '')
    .call(LEAD, 1, 'c1', 'write_file', {})
    .call(LEAD, 1, 'c2', 'write_file', {})
    .result(LEAD, 1, 'c1', 'write_file', denied, { isError: true })
    .result(LEAD, 1, 'c2', 'write_file', 'no such folder', { isError: true });

  assert.deepEqual(grown(script).root.turns[0]?.calls.map((call) => call.status), ['denied', 'failed']);
});

test('when a run is stopped, so is all that it has left open', () => {
  const { root } = grown(new Script().begin(LEAD, '').turn(LEAD, 1).text(LEAD, 1, 'I').end(LEAD, 'cancelled'));

  assert.deepEqual(drawn(root), ['lead', 'cancelled', [1, 'cancelled']]);
  assert.equal(root.ended, START + 5000);
});

test('what was used is added up as long as the run has not said it', () => {
  const script = finished();

  assert.equal(usedBy(grown(script, 9).root).inputTokens, 200);
  assert.deepEqual(usedBy(grown(script).root), { inputTokens: 300, outputTokens: 30, cost: 0.003 });
});

test('a sum with an unknown cost in it has none', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).said(LEAD, 1, '').begin(TEST, '');

  assert.equal(usedBy(grown(script).root).cost, undefined);
});

test('runs of which nobody will hear any more end as killed, children first', () => {
  const tree = grown(finished(), 7);

  assert.deepEqual(tree.lose(START + 9000).map((run) => run.runId), ['t', 'l']);
  assert.deepEqual(drawn(tree.root), ['lead', 'killed', [1, 'completed', ['test', 'killed', [1, 'killed']]]]);
});

test('runs that were lost go on where they were when another server tells of them', () => {
  const { events } = finished();
  const tree = grown(finished(), 7);
  tree.lose(START + 9000);
  events.slice(7).forEach((event) => tree.take(event));

  assert.deepEqual(drawn(tree.root), drawn(grown(finished()).root));
});

test('a turn that was lost and is made anew is no longer told', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1);
  const tree = grown(script);
  tree.lose(START + 9000);
  const known = script.events.length;
  script.end(LEAD, 'killed').resume(LEAD, 1).turn(LEAD, 1);
  const changed = script.events.slice(known).flatMap((event) => tree.take(event));

  assert.deepEqual(changed.filter((node) => node.kind === 'turn' && !tree.root.turns.includes(node)), []);
});

test('a remembered run is filled with its events', () => {
  const tree = RunTree.remembered(past('l', START));
  assert.deepEqual(drawn(tree.root), ['lead', 'completed']);

  finished().events.forEach((event) => tree.take(event));
  assert.equal(tree.root.turns.length, 2);
  assert.equal(tree.root.task, 'Check this');
});

test('thoughts are kept apart from the answer, and begin anew when it is sent again', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).thought(LEAD, 1, 'Hm').retry(LEAD, 1, 'busy');
  script.thought(LEAD, 1, 'I ').thought(LEAD, 1, 'see').text(LEAD, 1, 'Yes').said(LEAD, 1, 'Yes.');

  const turn = grown(script).root.turns[0];
  assert.equal(turn?.thought, 'I see');
  assert.equal(turn?.text, 'Yes.');
});

test('a run that is resumed is open again, and its unanswered turn is begun anew', () => {
  const script = new Script().begin(LEAD, 'Check').turn(LEAD, 1).said(LEAD, 1, 'Hm.').turn(LEAD, 2).text(LEAD, 2, 'It');
  script.end(LEAD, 'killed', { error: 'it died' }).resume(LEAD, 2);
  assert.deepEqual(drawn(grown(script).root), ['lead', 'running', [1, 'completed'], [2, 'killed']]);
  assert.equal(grown(script).root.error, undefined);

  script.turn(LEAD, 2).said(LEAD, 2, 'It can.').end(LEAD);
  const { root } = grown(script);
  assert.deepEqual(drawn(root), ['lead', 'completed', [1, 'completed'], [2, 'completed']]);
  assert.equal(root.turns[1]?.text, 'It can.');
  assert.equal(root.ended, START + 9000);
});

test('a run that is resumed may be heard of first when it goes on', () => {
  const { root } = grown(new Script().begin(LEAD, 'Check').turn(LEAD, 1).said(LEAD, 1, '').resume(TEST, 2, 'Run them'));

  assert.deepEqual(drawn(root), ['lead', 'running', [1, 'completed'], ['test', 'running']]);
  assert.equal(root.strays[0]?.task, 'Run them');
});

test('a side run stands in the place of its start, also if it begins after that has ended', () => {
  const { root } = grown(waiting());

  assert.deepEqual(drawn(root), [
    'lead',
    'running',
    [1, 'completed', ['lint', 'running']],
    [2, 'completed'],
  ]);
  assert.equal((childrenOf(root.turns[0] as Node)[0] as RunNode).side, 'lint-1');
});

test('a run waits for side runs until its next event, which a message in the queue is not', () => {
  const script = waiting();
  assert.deepEqual(idleOf(grown(script).root)?.sideRuns, ['lint-1']);

  script.message(LEAD, 'queued', { messageId: 'm', mode: 'after', text: 'And b', from: 'person' });
  assert.ok(idleOf(grown(script).root));

  const { root } = grown(script.message(LEAD, 'given', { turn: 3, sideRuns: ['lint-1'], messageIds: [], text: 'Fine.' }));
  assert.equal(idleOf(root), undefined);
  assert.deepEqual(root.idleTimes.map(({ began, ended }) => [began, ended]), [[START + 9000, START + 11_000]]);
});

test('messages wait in a queue, change, are removed, and are given', () => {
  const texts = (script: Script) => [...grown(script).root.queue.values()].map(({ mode, text }) => [mode, text]);
  const script = new Script().begin(LEAD, '');
  script.message(LEAD, 'queued', { messageId: 'a', mode: 'next', text: 'one', from: 'person' });
  script.message(LEAD, 'queued', { messageId: 'b', mode: 'after', text: 'two', from: 'person' });
  script.message(LEAD, 'queued', { messageId: 'c', mode: 'after', text: 'three', from: 'person' });
  assert.deepEqual(texts(script), [['next', 'one'], ['after', 'two'], ['after', 'three']]);

  script.message(LEAD, 'changed', { messageId: 'b', text: 'TWO' }).message(LEAD, 'removed', { messageId: 'c' });
  assert.deepEqual(texts(script), [['next', 'one'], ['after', 'TWO']]);

  script.message(LEAD, 'given', { turn: 1, sideRuns: [], messageIds: ['a'], text: 'one' });
  assert.deepEqual(texts(script), [['after', 'TWO']]);
  assert.deepEqual(texts(script.end(LEAD, 'failed')), [['after', 'TWO']]);
});

test('a message to a side run that has not begun waits in its queue when it begins', () => {
  const tree = grown(waiting());
  assert.deepEqual([...(tree.run('s')?.queue.values() ?? [])].map(({ text }) => text), ['Only a.py']);
});
