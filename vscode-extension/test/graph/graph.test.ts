// The graph of agents: what is said of each, where each stands, and where keys lead.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Graph, GraphNode } from '../../src/agents/protocol';
import { BOX_HEIGHT, layout, shownName } from '../../src/graph/layout';
import { liveOf } from '../../src/graph/live';
import { stateOf } from '../../src/graph/state';
import { around, found, inWords, next, part } from '../../src/graph/walking';
import type { AgentBegin } from '../../src/protocol';
import { RunTree } from '../../src/runs/runTree';
import { LEAD, Script, TEST } from '../runs/events';

function graphOf(calls: Record<string, readonly string[]>, changes: Partial<Graph> = {}): Graph {
  const names = [...new Set([...Object.keys(calls), ...Object.values(calls).flat()])];
  const nodes = names.map((name): GraphNode => ({ id: name, name, defined: name in calls, root: false, reachable: true }));
  const edges = Object.entries(calls).flatMap(([from, to]) => to.map((each) => ({ from, to: each, via: 'sub_agents' as const })));
  return { complete: true, nodes, edges, cycles: [], unreachable: [], ...changes };
}

const NONE = { errors: 0, warnings: 0 };
const REVIEW = graphOf({ lead: ['lint', 'style'], lint: ['ghost'], style: ['lead'], solo: [] }, { cycles: [{ agents: ['lead', 'style'], path: ['lead', 'style', 'lead'] }] });
const STATE = stateOf(REVIEW, (id) => (id === 'lint' ? { errors: 2, warnings: 1 } : NONE), 'lint');

test('each agent is told with what is wrong with it, and with whom it has to do', () => {
  const words = STATE.nodes.map((node) => inWords(node, STATE));
  assert.deepEqual(words, [
    'lead; part of a cycle; calls lint, style; called by style',
    'lint; 2 errors, 1 warning; calls ghost; called by lead',
    'style; part of a cycle; calls lead; called by lead',
    'solo; calls nobody; called by nobody',
    'ghost; no file defines it; calls nobody; called by lint',
  ]);
  assert.deepEqual(STATE.nodes.map(({ state }) => state), ['fine', 'error', 'fine', 'fine', 'missing']);
  assert.deepEqual(STATE.edges.filter(({ inCycle }) => inCycle).map(({ from }) => from), ['lead', 'style']);
});

test('an agent tells its model and price, a missing one that it has no file', () => {
  const nodes = REVIEW.nodes.map((node) => ({ ...node, model: 'anthropic/claude-x', ...(node.name === 'lead' ? { price: { input: 0.1, output: 5 } } : {}) }));
  const about = new Map(stateOf({ ...REVIEW, nodes }, () => NONE, undefined).nodes.map((node) => [node.name, node.about]));
  assert.deepEqual([about.get('lead'), about.get('lint'), about.get('ghost')], ['claude-x · $0.1 / $5', 'claude-x', 'no file defines it']);
});

test('agents tell what they do in the runs that are going on, and which calls were made', () => {
  const script = new Script().begin(LEAD, 'x').turn(LEAD, 1).call(LEAD, 1, 'c', 'call_agent', { agent: 'test', task: 'y' }).begin(TEST, 'y').turn(TEST, 1).turn(TEST, 2);
  const graph = graphOf({ lead: ['test', 'lint'], test: [], lint: [] });
  const told = (asks: boolean, { events }: Script = script) => {
    const tree = RunTree.begun(events[0]?.params as AgentBegin);
    events.forEach((event) => tree.take(event));
    return stateOf(graph, () => NONE, undefined, liveOf([tree.root], (runId) => asks && runId === TEST.runId));
  };
  const { nodes, edges } = told(false);
  assert.deepEqual(nodes.map(({ live }) => live?.words), ['running, turn 1', 'running, turn 2', undefined]);
  assert.deepEqual(edges.map(({ to, isTaken }) => [to, isTaken]), [['test', true], ['lint', false]]);
  assert.equal(told(true).nodes[1]?.live?.state, 'waiting');
  assert.deepEqual(told(false, script.end(TEST, 'failed')).nodes[1]?.live, { state: 'failed', words: 'failed' });
});

test('an agent that is too deep to be called is told so', () => {
  const nodes = REVIEW.nodes.map((node) => ({ ...node, reachable: node.name !== 'solo' }));
  const solo = stateOf({ ...REVIEW, nodes }, () => NONE, undefined).nodes.find(({ name }) => name === 'solo');
  assert.deepEqual([solo?.reachable, solo?.remarks], [false, 'too deep to be called']);
});

test('callers stand left of those that they call, nobody on another, and the unconnected below', () => {
  const { nodes, width, height } = layout(stateOf(graphOf({ lead: ['lint', 'style'], lint: ['deep'], solo: [], other: [] }), () => NONE, undefined));
  const at = new Map(nodes.map((node) => [node.id, node]));
  const x = (id: string) => at.get(id)?.x ?? NaN;
  assert.ok(x('lead') < x('lint') && x('lint') < x('deep'));
  assert.ok(Math.min(...['solo', 'other'].map((id) => at.get(id)?.y ?? NaN)) > Math.max(...['lead', 'lint', 'style', 'deep'].map((id) => at.get(id)?.y ?? NaN)));
  for (const one of nodes) {
    assert.ok(one.x - one.width / 2 >= 0 && one.x + one.width / 2 <= width && one.y <= height);
    for (const other of nodes.filter(({ id }) => id < one.id)) {
      assert.ok(Math.abs(one.y - other.y) >= BOX_HEIGHT || Math.abs(one.x - other.x) >= (one.width + other.width) / 2, `${one.id} on ${other.id}`);
    }
  }
});

test('a call that closes a cycle leads back below the boxes', () => {
  const { nodes, edges } = layout(stateOf(graphOf({ lead: ['lint'], lint: ['lead'] }), () => NONE, undefined));
  const points = edges.find(({ edge }) => edge.from === 'lint')?.points;
  const below = ['lint', 'lead'].map((id) => nodes.find((node) => node.id === id)).map((node) => ({ x: node?.x, y: (node?.y ?? NaN) + BOX_HEIGHT / 2 }));
  assert.deepEqual(points, below);
});

test('an agent that calls itself, and nobody at all, can be laid out', () => {
  assert.equal(layout(stateOf(graphOf({ loop: ['loop'] }), () => NONE, undefined)).nodes.length, 1);
  assert.equal(layout(stateOf(graphOf({}), () => NONE, undefined)).nodes.length, 0);
});

test('arrow keys follow calls and go along a layer', () => {
  const { nodes } = layout(part(STATE, new Set(['lead', 'lint', 'style', 'ghost'])));
  const go = (from: string, key: string) => {
    const start = nodes.find(({ id }) => id === from);
    assert.ok(start);
    return next(start, key, nodes, STATE.edges)?.id;
  };
  assert.equal(go('lint', 'ArrowRight'), 'ghost');
  assert.equal(go('ghost', 'ArrowLeft'), 'lint');
  assert.equal(go('ghost', 'ArrowRight'), undefined);
  const [upper, lower] = nodes.filter(({ id }) => id === 'lint' || id === 'style').sort((one, other) => one.y - other.y);
  assert.equal(go(upper?.id ?? '', 'ArrowDown'), lower?.id);
  assert.equal(go(lower?.id ?? '', 'ArrowUp'), upper?.id);
});

test('the agents around one are those so many calls away, whichever way', () => {
  assert.deepEqual([...around(STATE.edges, 'ghost', 1)].sort(), ['ghost', 'lint']);
  assert.deepEqual([...around(STATE.edges, 'ghost', 2)].sort(), ['ghost', 'lead', 'lint']);
  assert.deepEqual([...around(STATE.edges, 'solo', 5)], ['solo']);
});

test('a search finds the whole name before a beginning, and that before a part', () => {
  const { nodes } = stateOf(graphOf({ relint: [], linter: [], lint: [] }), () => NONE, undefined);
  assert.deepEqual(['LINT', 'linte', 'int', 'zzz', ' '].map((text) => found(nodes, text)?.name), ['lint', 'linter', 'relint', undefined, undefined]);
});

test('a thousand agents are laid out while a person waits', () => {
  const calls = Object.fromEntries(Array.from({ length: 1000 }, (_, number) => [`agent${number}`, [2 * number + 1, 2 * number + 2, (number * 7) % 1000].filter((each) => each < 1000).map((each) => `agent${each}`)]));
  const began = performance.now();
  assert.equal(layout(stateOf(graphOf(calls), () => NONE, undefined)).nodes.length, 1000);
  assert.ok(performance.now() - began < 60_000);
});

test('a very long name is cut where there is no room for it', () => {
  assert.equal(shownName('é'.repeat(50)), `${'é'.repeat(39)}…`);
  assert.equal(shownName('lint'), 'lint');
});
