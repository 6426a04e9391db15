// Which runs stand on the page of a conversation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conversationOf } from '../../src/runPage/conversation';
import { Telling, type RunView } from '../../src/runPage/views';
import type { RunNode } from '../../src/runs/nodes';
import { RunTree } from '../../src/runs/runTree';
import { past, Script, START } from '../runs/events';

/** A root run with so many turns. */
function run(runId: string, turns: number, more: object = {}): RunNode {
  const tree = RunTree.remembered(past(runId, START, { task: `Task of ${runId}`, ...more }));
  const who = { runId, agent: 'lead', depth: 0 };
  const script = new Script();
  for (let turn = 1; turn <= turns; turn += 1) {
    script.turn(who, turn).said(who, turn, `Turn ${turn} of ${runId}`);
  }
  script.events.forEach((event) => tree.take({ ...event, params: { ...event.params, rootRunId: runId } } as typeof event));
  return tree.root;
}

async function shown(root: RunNode, ...former: RunNode[]) {
  const conversation = await conversationOf(root, async (id) => former.find(({ runId }) => runId === id), 50);
  return [conversation.shared.map((each) => [each.run.runId, each.before]), conversation.runs.map(({ runId }) => runId)];
}

const fork = (runId: string, turn: number) => ({ forkedFrom: { runId, turn } });

test('a reply stands below the runs that it goes on with', async () => {
  assert.deepEqual(await shown(run('b', 1, { continues: 'a' }), run('a', 1)), [[], ['a', 'b']]);
});

test('a fork shares the turns before its own, and all runs above the former run', async () => {
  const former = run('b', 3, { continues: 'a' });
  assert.deepEqual(await shown(run('f', 1, fork('b', 2)), former, run('a', 1)), [[['a', Infinity], ['b', 2]], ['f']]);
  assert.deepEqual(await shown(run('g', 1, { continues: 'f' }), run('f', 1, fork('b', 2)), former, run('a', 1)), [[['a', Infinity], ['b', 2]], ['f', 'g']]);
});

test('a fork of a fork shares no turns that the first fork has left out', async () => {
  assert.deepEqual(await shown(run('g', 1, fork('f', 2)), run('f', 0, fork('a', 3)), run('a', 4)), [[['a', 2]], ['g']]);
});

test('a fork at the first turn, or of a forgotten run, shares nothing', async () => {
  assert.deepEqual(await shown(run('f', 1, fork('a', 1)), run('a', 2)), [[], ['f']]);
  assert.deepEqual(await shown(run('f', 1, fork('a', 2))), [[], ['f']]);
});

test('the page of a fork shows the shared turns as such, below the task of the former run', async () => {
  const former = run('a', 3);
  const edits = { of: () => undefined, ofTurn: () => undefined };
  const { nodes, title } = new Telling(await conversationOf(run('f', 0, fork('a', 3)), async () => former, 50), edits).state([]);
  assert.deepEqual(nodes.map(({ id }) => id), ['a', 'a/1', 'a/2', 'f']);
  const [shared, , , own] = nodes as RunView[];
  assert.deepEqual([shared?.isShared, shared?.state, shared?.task], [true, 'turns before 3 are shared', 'Task of a']);
  assert.deepEqual([own?.isShared, own?.task, title], [false, '', 'lead: fork of Task of a']);
});
