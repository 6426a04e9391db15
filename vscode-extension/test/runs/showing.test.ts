// How runs are shown: rows of the tree, days, documents.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentBegin } from '../../src/protocol';
import { byDay } from '../../src/runs/days';
import { passes } from '../../src/runs/filter';
import { duration } from '../../src/runs/figures';
import { childrenOf, usedBy, type RunNode, type TurnNode } from '../../src/runs/nodes';
import { answerOf, rowOf } from '../../src/runs/presenting';
import { RunTree } from '../../src/runs/runTree';
import { timelineOf } from '../../src/runs/timeline';
import { documentName, documentOf, exported } from '../../src/runs/writing';
import { finished, waiting, LEAD, past, Script, START } from './events';

function rootOf({ events }: Script): RunNode {
  const tree = RunTree.begun(events[0]?.params as AgentBegin);
  events.forEach((event) => tree.take(event));
  return tree.root;
}

function firstTurn(script: Script): TurnNode {
  return rootOf(script).turns[0] as TurnNode;
}

test('a run tells its time, tokens, cost and task', () => {
  const row = rowOf(rootOf(finished()), START);

  assert.match(row.label, /^\d\d:\d\d Check this$/);
  assert.equal(row.description, 'lead · 5.0 s · 300 + 30 · $0.0030');
  assert.deepEqual(row.icon, { id: 'pass', color: 'testing.iconPassed' });
  assert.equal(row.spoken, 'lead, completed, 5.0 s, 300 tokens in, 30 out, $0.0030, Check this');
  assert.equal(row.context, 'root run ended');
});

test('a filter wants each of its words in the agent, the task, the model or the state', () => {
  const root = rootOf(finished());
  for (const filter of ['', ' ', 'lead', 'check', 'CHECK  lead', 'completed', 'openai this']) {
    assert.ok(passes(root, false, filter), filter);
  }
  for (const filter of ['test', 'lead failed', 'waiting']) {
    assert.ok(!passes(root, false, filter), filter);
  }
  assert.ok(passes(rootOf(new Script().begin(LEAD, 'x')), true, 'waiting lead'));
});

test('a run that failed tells why', () => {
  const row = rowOf(rootOf(new Script().begin(LEAD, 'x').end(LEAD, 'failed', { error: 'no key' })), START);

  assert.match(row.description, /· no key$/);
  assert.equal(row.icon.id, 'error');
});

test('what goes on spins and counts', () => {
  const row = rowOf(rootOf(new Script().begin(LEAD, 'x')), START + 3200);

  assert.equal(row.icon.id, 'loading~spin');
  assert.equal(row.description, 'lead · 3.2 s');
  assert.equal(row.context, 'root run running');
});

test('a turn under way shows the end of its text, one that is over the beginning', () => {
  const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).text(LEAD, 1, words);

  assert.match(rowOf(firstTurn(script), START).description, /…w\d+ .* w59$|….*w59$/);
  assert.match(rowOf(firstTurn(script.said(LEAD, 1, words)), START).description, /100 \+ 10 · \$0\.0010 · w0 w1/);
});

test('an answer that is not whole is marked in its turn, its run, its document and the timeline', () => {
  const cut = { incomplete: 'length' };
  const script = new Script().begin(LEAD, 'x').turn(LEAD, 1).said(LEAD, 1, 'Half a', cut).end(LEAD, 'completed', cut);
  const root = rootOf(script);

  for (const node of [root, root.turns[0] as TurnNode]) {
    const row = rowOf(node, START);
    assert.equal(row.icon.id, 'warning');
    assert.match(row.description, /cut off at the output limit/);
    assert.match(row.spoken, /cut off at the output limit/);
    assert.match(documentOf(node, START), /\*\*cut off at the output limit\*\*/);
  }
  const timeline = timelineOf(root, START);
  assert.match(timeline.summary, /cut off at the output limit/);
  assert.deepEqual(timeline.bars.map((bar) => bar.label), ['lead ⚠', 'Turn 1 ⚠']);
});

test('what a model thinks is told as such, and is a section of its own in the document', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).thought(LEAD, 1, 'Let me\nsee');
  assert.match(rowOf(firstTurn(script), START).description, /thinking$/);

  const text = documentOf(firstTurn(script.said(LEAD, 1, 'Yes.')), START);
  assert.match(text, /\n## Thinking\n\n> Let me\n> see\n\n## Answer\n\nYes\.\n$/);
});

test('the row of a run says where its tools work, or what they wait for', () => {
  const script = new Script().begin(LEAD, '').place(LEAD, '', { waiting: 'a machine' });
  assert.match(rowOf(rootOf(script), START).description, /waits for a machine$/);

  script.place(LEAD, 'ssh://build1', { folder: '/copy', ref: 'refs/axe/1' });
  assert.match(rowOf(rootOf(script), START).description, /at ssh:\/\/build1$/);
  assert.match(rowOf(rootOf(script), START).tooltip, /copy: \/copy\nrefs\/axe\/1/);
  script.place(LEAD, 'ssh://build1', { waiting: 'a slot' });
  assert.match(rowOf(rootOf(script), START).description, /waits for a slot at ssh:\/\/build1$/);
  assert.doesNotMatch(rowOf(rootOf(script.place(LEAD, 'here')), START).description, /here|waits/);
});

test('what has become of the changes in a copy is in its row, and takes the place of the copy', () => {
  const script = new Script().begin(LEAD, '').place(LEAD, 'here', { folder: '/copy', ref: 'refs/axe/1' });
  script.end(LEAD, 'completed', { changes: 'They are kept as refs/axe/1', unapplied: 'all' });
  const row = rowOf(rootOf(script), START);
  assert.match(row.description, /changes not applied$/);
  assert.match(row.tooltip, /\nThey are kept as refs\/axe\/1/);
  assert.doesNotMatch(row.tooltip, /copy:/);
});

test('a turn whose request waits for its provider says so until something comes', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).wait(LEAD, 1, {});
  assert.match(rowOf(firstTurn(script), START).description, /openai takes no more requests at once: waiting for others$/);

  script.wait(LEAD, 1, { waitMs: 2000 });
  assert.match(rowOf(firstTurn(script), START).description, /openai asked for a pause: waiting for 2\.0 s$/);
  assert.match(rowOf(firstTurn(script.text(LEAD, 1, 'Yes')), START).description, / · Yes$/);
});

test('a turn whose request is made shorter says so until something comes, and its document keeps it', () => {
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).context(LEAD, 1, 'begin', {});
  assert.match(rowOf(firstTurn(script), START).description, /asks for a summary, since about 9,000 tokens are too many$/);

  script.context(LEAD, 1, 'end', { messages: 5, summary: 'So\nfar.', tokensAfter: 900, inputTokens: 8000, outputTokens: 70, cost: 0.1 });
  assert.match(rowOf(firstTurn(script), START).description, /5 messages replaced by a summary, about 9,000 to 900 tokens$/);

  script.context(LEAD, 1, 'shortened', { results: 1, tokensAfter: 800 });
  assert.match(rowOf(firstTurn(script), START).description, /1 old tool result shortened, about 9,000 to 800 tokens$/);

  const turn = firstTurn(script.said(LEAD, 1, 'Yes.'));
  assert.match(rowOf(turn, START).description, / · Yes\.$/);
  const text = documentOf(turn, START);
  assert.match(text, /\n- 5 messages replaced by a summary, about 9,000 to 900 tokens\n\n> So\n> far\.\n\n- 1 old tool result shortened/);
  assert.equal(usedBy(turn.run).inputTokens, 8100);
});

test('why there is no summary is told', () => {
  const none = { messages: 0, summary: '', tokensAfter: 9000, inputTokens: 0, outputTokens: 0, error: 'server: boom' };
  const script = new Script().begin(LEAD, '').turn(LEAD, 1).context(LEAD, 1, 'end', none);
  assert.match(rowOf(firstTurn(script), START).description, /no summary: server: boom$/);
});

test('a run that asks shows the question in place of its figures', () => {
  const root = rootOf(new Script().begin(LEAD, 'x'));
  const row = rowOf(root, START, [{ kind: 'approval', purpose: 'wants to run a command: make' }, { kind: 'approval', purpose: 'wants to write a' }]);

  assert.equal(row.description, 'lead 1 of 2 questions: wants to run a command: make');
  assert.equal(row.spoken, 'lead, asks you, 1 of 2 questions: wants to run a command: make');
  assert.equal(row.context, 'root run asking running');
  const limited = rowOf(root, START, [{ kind: 'approval', purpose: 'wants to run a command: make', ends: START + 42_000 }]);
  assert.equal(limited.description, '50 s left · lead wants to run a command: make');
  const inquiring = rowOf(root, START, [{ kind: 'inquiry', purpose: 'asks: Which?' }]);
  assert.deepEqual([inquiring.context, inquiring.description], ['root run inquiring running', 'lead asks: Which?']);
});

test('a turn that waits to be sent again says so', () => {
  const turn = firstTurn(new Script().begin(LEAD, '').turn(LEAD, 1).retry(LEAD, 1, 'busy'));

  assert.match(rowOf(turn, START + 2000).description, /waits after overloaded: busy/);
});

test('a call shows what it was asked for, or why it failed', () => {
  const call = firstTurn(finished()).calls[1];
  assert.ok(call);
  assert.equal(rowOf(call, START).description, '0.3 s · path="a.md"');

  assert.match(rowOf({ ...call, status: 'failed', content: 'no file' }, START).description, /no file$/);
});

test('long times are told in minutes', () => {
  assert.equal(duration(950), '0.9 s');
  assert.equal(duration(125_400), '2 min 5 s');
});

test('runs are grouped by day', () => {
  const noon = new Date(2026, 4, 2, 12).getTime();
  const hours = (ago: number) => RunTree.remembered(past(String(ago), noon - ago * 3_600_000)).root;

  const days = byDay([0, 11, 13, 60, 24 * 300].map(hours), noon, 'en-US');

  assert.deepEqual(
    days.map((day) => [day.label, day.runs.length]),
    [['Today', 2], ['Yesterday', 1], ['Thursday, April 30', 1], ['Sunday, July 6, 2025', 1]],
  );
});

test('the document of a run tells all of it, with what it called', () => {
  const text = documentOf(rootOf(finished()), START);

  const parts = ['# lead', '> Check this', '## Turn 1', 'I ask.', '### test', '> Run them', 'They pass.', '### read_file', '## Turn 2', 'It can.'];
  const places = parts.map((part) => text.indexOf(`\n${part}\n`));
  assert.ok(text.startsWith('# lead\n'));
  assert.deepEqual(places.slice(1), [...places.slice(1)].sort((one, other) => one - other));
  assert.ok(places.slice(1).every((place) => place > 0), text);
});

test('the document of a call has its arguments and its result, JSON as JSON', () => {
  const call = firstTurn(finished()).calls[1];
  assert.ok(call);
  const text = documentOf(call, START);

  assert.match(text, /Arguments:\n\n```json\n\{\n {2}"path": "a.md"\n\}\n```/);
  assert.match(text, /Result:\n\n```json\n\{\n {2}"a": 1\n\}\n```/);
  assert.equal(documentName(call), 'lead read_file');
});

test('a result that has fences in it stays inside its own', () => {
  const call = { ...firstTurn(finished()).calls[1], content: '```\ncode\n```' } as Parameters<typeof documentOf>[0];

  assert.match(documentOf(call, START), /````\n```\ncode\n```\n````/);
});

test('a result that is not whole says so', () => {
  const call = { ...firstTurn(finished()).calls[1], content: 'x'.repeat(20_000) } as Parameters<typeof documentOf>[0];

  assert.match(documentOf(call, START), /Only the first 20,000 characters/);
});

test('the document of a turn under way has the text so far', () => {
  const turn = firstTurn(new Script().begin(LEAD, '').turn(LEAD, 1).text(LEAD, 1, 'So far'));

  assert.match(documentOf(turn, START), /^# lead, turn 1\n\nrunning · .*\n\nSo far\n$/s);
});

test('an exported run is a line of JSON for each event', () => {
  const { events } = finished();
  const lines = exported(events).split('\n');

  assert.equal(lines.pop(), '');
  assert.deepEqual(lines.map((line) => JSON.parse(line)), events);
});

test('a root run that ended unfinished can be continued', () => {
  const kinds = [{ status: 'killed', resumable: true }, { status: 'killed' }, { status: 'completed' }] as const;
  const rows = kinds.map((kind) => rowOf(RunTree.remembered(past('l', START, kind)).root, START));

  assert.deepEqual(rows.map((row) => row.context), ['root run ended unfinished', 'root run ended final', 'root run ended']);
});

test('the turns of a root run can be told from those below', () => {
  const run = rootOf(finished());
  const turns = [run.turns[0], run.turns[0]?.calls[0]?.child?.turns[0]].flatMap((turn) => (turn ? [rowOf(turn, START).context] : []));

  assert.deepEqual(turns, ['main turn ended', 'turn ended']);
});

test('a fork knows the run that it was made from', () => {
  const forkedFrom = { runId: 'l', turn: 2 };

  assert.deepEqual(RunTree.remembered(past('f', START, { forkedFrom })).root.forkedFrom, forkedFrom);
  assert.equal(RunTree.remembered(past('l', START)).root.forkedFrom, undefined);
});

test('sources stand under the answer as links that a title cannot change', () => {
  const sources = [{ url: 'https://example.com/(a)', title: 'A [page](x)' }, { url: 'https://example.com/b' }, { title: 'notes.txt' }];
  const turn = firstTurn(new Script().begin(LEAD, 'x').turn(LEAD, 1).said(LEAD, 1, 'It is so.', { sources }));

  assert.equal(
    answerOf(turn),
    'It is so.\n\n**Sources**\n\n1. [A \\[page\\](x)](https://example.com/%28a%29)\n2. [https://example.com/b](https://example.com/b)\n3. notes.txt',
  );
  assert.equal(answerOf({ ...turn, sources: [] }), 'It is so.');
});

test('the row of a run says for which side runs it waits, and how many messages wait', () => {
  const script = waiting().message(LEAD, 'queued', { messageId: 'm', mode: 'after', text: 'And b', from: 'person' });
  const root = rootOf(script);

  assert.match(rowOf(root, START + 12_000).description, /^lead · 12\.0 s · waits for lint-1 · 1 message waiting/);
});

test('a side run has its own name in its row and its document', () => {
  const lint = childrenOf(firstTurn(waiting()))[0] as RunNode;
  const row = rowOf(lint, START + 12_000);

  assert.deepEqual([row.label, documentName(lint)], ['lint-1', 'lint-1']);
  assert.match(row.description, /^side run · /);
  assert.match(documentOf(lint, START), /^# lint-1\n\nside run of lint · running/);
});

test('the document of a turn has what its request has given', () => {
  const script = waiting().message(LEAD, 'given', { turn: 3, sideRuns: ['lint-1'], messageIds: ['m'], text: 'Fine.\n\nGo on.' }).turn(LEAD, 3);
  const turn = rootOf(script).turns[2] as TurnNode;

  assert.match(documentOf(turn, START), /Given: answer of lint-1 and 1 message\n\n> Fine\.\n>\n> Go on\./);
});
