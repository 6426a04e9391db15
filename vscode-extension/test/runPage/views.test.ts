// What a page of runs is told: all of it once, and then what is new.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentBegin } from '../../src/protocol';
import { questionView, Telling, type CallView, type NodeView, type RunView, type TurnView } from '../../src/runPage/views';
import { RunTree } from '../../src/runs/runTree';
import { roughTimeLeft, timeLeft } from '../../src/runs/figures';
import { finished, waiting, LEAD, past, Script, START, TEST } from './../runs/events';

const NO_EDITS = { of: () => undefined, ofTurn: () => undefined };

class Page {
  readonly script = new Script().begin(LEAD, 'Go');
  readonly tree = RunTree.begun(this.script.events[0]?.params as AgentBegin);
  readonly telling = new Telling({ shared: [], runs: [this.tree.root] }, NO_EDITS);
  private taken = 0;

  /** What the page is told after these events. */
  after(add: (script: Script) => unknown) {
    add(this.script);
    for (; this.taken < this.script.events.length; this.taken += 1) {
      const event = this.script.events[this.taken];
      this.telling.note(event ? this.tree.take(event) : []);
    }
    return this.telling.state([]);
  }
}

test('a run is told as a list in which each stands behind the one that it is in', () => {
  const { events } = finished();
  const tree = RunTree.begun(events[0]?.params as AgentBegin);
  events.forEach((event) => tree.take(event));
  const state = new Telling({ shared: [], runs: [tree.root] }, NO_EDITS).state([]);

  assert.deepEqual(
    state.nodes.map(({ id, parent, kind }) => [id, parent, kind]),
    [
      ['l', undefined, 'run'],
      ['l/1', 'l', 'turn'],
      ['t', 'l/1', 'run'],
      ['t/1', 't', 'turn'],
      ['l/1/2', 'l/1', 'call'],
      ['l/2', 'l', 'turn'],
    ],
  );
  assert.deepEqual([state.isWhole, state.isGoing, state.spoken], [true, false, 'lead: completed']);
});

test('a page says where an agent works, and what has become of the changes in its copy', () => {
  const page = new Page();
  const [at] = page.after((script) => script.place(LEAD, 'ssh://build1')).nodes as RunView[];
  assert.match(at?.figures ?? '', /^at ssh:\/\/build1/);
  const [ended] = page.after((script) => script.end(LEAD, 'completed', { changes: 'Applied: M a.txt' })).nodes as RunView[];
  assert.deepEqual([ended?.changes, ended?.unapplied], ['Applied: M a.txt', false]);
});

test('a page is told of changed files of a run and a turn when they are others', () => {
  const page = new Page();
  page.after((script) => script.turn(LEAD, 1));
  let summary = '1 file';
  const view = () => ({ summary, added: '', removed: '', remarks: [], files: [], canReview: true, canUndo: false });
  const telling = new Telling({ shared: [], runs: [page.tree.root] }, { of: view, ofTurn: view });
  const told = () => telling.state([]).nodes.map((node) => [node.id, (node as RunView | TurnView).edits?.summary]);
  assert.deepEqual(told(), [['l', '1 file'], ['l/1', '1 file']]);
  telling.note([page.tree.root]);
  assert.deepEqual(told(), []);
  summary = '2 files';
  telling.note([page.tree.root]);
  assert.deepEqual(told(), [['l', '2 files'], ['l/1', '2 files']]);
});

test('a fork says of which run it is, and from which turn on', () => {
  const { root } = RunTree.remembered(past('f', 0, { task: 'Go', forkedFrom: { runId: '1234567890', turn: 3 } }));
  const { title, nodes } = new Telling({ shared: [], runs: [root] }, NO_EDITS).state([]);
  assert.match(title, /: fork of Go$/);
  assert.match(nodes[0]?.figures ?? '', /^fork of run 12345678 at turn 3/);
});

test('a text that grows is told by its end alone', () => {
  const page = new Page();
  page.after((script) => script.turn(LEAD, 1).text(LEAD, 1, 'One '));
  const { isWhole, nodes } = page.after((script) => script.text(LEAD, 1, 'two.'));

  assert.equal(isWhole, false);
  assert.deepEqual(nodes.map((node) => node.id), ['l/1']);
  assert.deepEqual((nodes[0] as TurnView).text, { kept: 4, more: 'two.' });
});

test('a turn is named by what it says', () => {
  const page = new Page();
  const { nodes } = page.after((script) => script.turn(LEAD, 1).text(LEAD, 1, '## The `plan`\n\nFirst **this**.'));
  assert.equal(nodes.map((node) => (node.kind === 'turn' ? node.heading : '')).join(''), 'The plan First this.');
});

test('a text that begins again is told whole', () => {
  const page = new Page();
  page.after((script) => script.turn(LEAD, 1).text(LEAD, 1, 'One '));
  page.after((script) => script.retry(LEAD, 1, 'busy'));
  const { nodes } = page.after((script) => script.text(LEAD, 1, 'Other'));

  assert.deepEqual((nodes[0] as TurnView).text, { kept: 0, more: 'Other' });
  assert.match((nodes[0] as TurnView).notes.join(), /sent again after 2\.0 s, 1 of 3: busy/);
});

test('a turn says until when its request waits, as long as nothing comes', () => {
  const page = new Page();
  const wait = (add: (script: Script) => unknown) => (page.after(add).nodes.find(({ kind }) => kind === 'turn') as TurnView | undefined)?.wait;
  const sent = wait((script) => script.turn(LEAD, 1).retry(LEAD, 1, 'busy'));
  assert.deepEqual(sent, { what: 'The request is sent again, 1 of 3', until: START + 4000 });
  assert.deepEqual(wait((script) => script.wait(LEAD, 1, { waitMs: 9000 })), { what: 'The request is sent', until: START + 12_000 });
  assert.equal(wait((script) => script.text(LEAD, 1, 'Now')), undefined);
});

test('a page that comes back is told all of it', () => {
  const page = new Page();
  page.after((script) => script.turn(LEAD, 1).text(LEAD, 1, 'One'));
  page.telling.forget();
  const { isWhole, nodes } = page.telling.state([]);

  assert.equal(isWhole, true);
  assert.deepEqual(nodes.map((node) => node.id), ['l', 'l/1']);
  assert.deepEqual((nodes[1] as TurnView).text, { kept: 0, more: 'One' });
});

test('a reply stands behind the run that it goes on with', () => {
  const page = new Page();
  page.after((script) => script.end(LEAD));
  const reply = new Script().begin({ ...LEAD, runId: 'r' }, 'Why?');
  page.telling.add(RunTree.begun(reply.events[0]?.params as AgentBegin).root);
  const state = page.telling.state([]);

  assert.deepEqual(state.nodes.map((node) => node.id), ['r']);
  assert.deepEqual([state.runId, state.isGoing, state.title], ['r', true, 'lead: Go']);
});

test('a call says what it is about and what it changes', () => {
  const page = new Page();
  const edits = { path: 'a.txt', old_string: 'x\ny\n', new_string: 'z' };
  const { nodes } = page.after((script) => script.turn(LEAD, 1).said(LEAD, 1, '').call(LEAD, 1, 'c', 'edit_file', edits));
  const call = nodes.find((node) => node.kind === 'call') as CallView;

  assert.deepEqual([call.name, call.subject, call.path, call.change], ['edit_file', 'a.txt', 'a.txt', '-x\n-y\n+z']);
});

test('the change of an edit has what both texts begin and end with once', () => {
  for (const [before, after, change] of [
    ['a\nb\nc\n', 'a\nx\ny\nc\n', ' a\n-b\n+x\n+y\n c'],
    ['a\na', 'a', ' a\n-a'],
    ['a', 'a\na', ' a\n+a'],
    ['', 'a\n', '+a'],
  ]) {
    const page = new Page();
    const edits = { path: 'a.txt', old_string: before, new_string: after };
    const { nodes } = page.after((script) => script.turn(LEAD, 1).said(LEAD, 1, '').call(LEAD, 1, 'c', 'edit_file', edits));
    assert.equal((nodes.find((node) => node.kind === 'call') as CallView).change, change);
  }
});

test('the error of a run is told', () => {
  const page = new Page();
  const { nodes } = page.after((script) => script.end(LEAD, 'failed', { error: 'no key' }));

  assert.deepEqual([(nodes[0] as RunView).error, nodes[0]?.state], ['no key', 'failed']);
});

test('only a run whose process has gone is interrupted, and no longer once it goes on', () => {
  const page = new Page();
  assert.equal(page.after((script) => script.turn(LEAD, 1)).isInterrupted, false);
  assert.equal(page.after((script) => script.end(LEAD, 'killed')).isInterrupted, true);
  assert.equal(page.after((script) => script.resume(LEAD, 1)).isInterrupted, false);
  assert.equal(page.after((script) => script.end(LEAD, 'failed')).isInterrupted, false);

  const final = RunTree.remembered(past('f', 0, { status: 'killed' })).root;
  assert.equal(new Telling({ shared: [], runs: [final] }, NO_EDITS).state([]).isInterrupted, false);
});

test('a run that ended before it was completed may continue, unless the server says that it can\'t', () => {
  const page = new Page();
  assert.equal(page.after((script) => script.turn(LEAD, 1)).canContinue, false);
  assert.equal(page.after((script) => script.end(LEAD, 'killed')).canContinue, true);
  assert.equal(page.after((script) => script.resume(LEAD, 1)).canContinue, false);
  assert.equal(page.after((script) => script.end(LEAD)).canContinue, false);

  const final = RunTree.remembered(past('f', 0, { status: 'failed' })).root;
  assert.equal(new Telling({ shared: [], runs: [final] }, NO_EDITS).state([]).canContinue, false);
});

test('a question has the answers that it takes', () => {
  const asks = { runId: 'l', rootRunId: 'l', agent: 'lead', reason: 'agent "lead" wants to run a command' };
  const command = { ...asks, tool: 'run_command', arguments: {}, details: 'ls', subject: 'ls', forRun: 'this command' };
  const approval = questionView({ kind: 'approval', question: command, ends: undefined }, 1, undefined, 0);
  const inquiry = questionView({ kind: 'inquiry', question: { ...asks, question: 'Which?', choices: ['a', 'b'] }, ends: undefined }, 2, undefined, 0);

  assert.deepEqual([approval.forRun, approval.always, approval.hasChange], ['Allow This Command for This Run', 'Always Allow This Command Here', false]);
  assert.deepEqual([inquiry.details, inquiry.choices], ['Which?', ['a', 'b']]);
});

test('a question stands at the newest call of its id that is under way, and says what is left to answer', () => {
  const page = new Page();
  page.after((script) => script.turn(LEAD, 1).said(LEAD, 1, '').call(LEAD, 1, 'c', 'ask_user', {}).result(LEAD, 1, 'c', 'ask_user', 'a'));
  const question = { runId: 'l', rootRunId: 'l', agent: 'lead', reason: 'agent "lead" asks', question: 'Which?', callId: 'c' };
  const view = () => questionView({ kind: 'inquiry', question, ends: 5000 }, 1, page.tree.root, 2000);
  assert.equal(view().at, undefined);

  page.after((script) => script.turn(LEAD, 2).said(LEAD, 2, '').call(LEAD, 2, 'c', 'ask_user', {}));
  assert.deepEqual([view().at, view().leftMs], ['l/2/1', 3000]);
});

test('a question about a call whose agent stands in its place stands at the end', () => {
  const page = new Page();
  page.after((script) => script.turn(LEAD, 1).said(LEAD, 1, '').call(LEAD, 1, 'c1', 'call_agent', { agent: 'test', task: 'x' }).begin(TEST, 'x'));
  const question = { runId: 'l', rootRunId: 'l', agent: 'lead', reason: 'r', question: 'q', callId: 'c1' };

  assert.equal(questionView({ kind: 'inquiry', question, ends: undefined }, 1, page.tree.root, 0).at, undefined);
});

test('what is left of a time counts down to nothing', () => {
  assert.deepEqual([95_000, 59_200, 1, -5].map(timeLeft), ['1 min 35 s left', '1 min 0 s left', '1 s left', '0 s left']);
  assert.deepEqual([95_000, 61_000, 60_000, 42_000, 1, -5].map(roughTimeLeft), ['2 min left', '2 min left', '60 s left', '50 s left', '10 s left', '0 s left']);
});

/** What a page shows that was told of each event alone. */
function followed({ events: [first, ...rest] }: Script) {
  const tree = RunTree.begun(first?.params as AgentBegin);
  const telling = new Telling({ shared: [], runs: [tree.root] }, NO_EDITS);
  const views = new Map(telling.state([]).nodes.map((view) => [view.id, view]));
  for (const event of rest) {
    telling.note(tree.take(event));
    telling.state([]).nodes.forEach((view) => views.set(view.id, view));
  }
  const shown = (id: string): NodeView[] => {
    const view = views.get(id);
    return view ? [view, ...view.children.flatMap(shown)] : [];
  };
  return shown('l');
}

test('what a run has left open ends with it', () => {
  const script = new Script().begin(LEAD, 'Go').turn(LEAD, 1).said(LEAD, 1, 'I read.').call(LEAD, 1, 'c1', 'read_file', { path: 'a.md' });
  const views = followed(script.turn(LEAD, 2).text(LEAD, 2, 'Half').end(LEAD, 'cancelled'));

  assert.deepEqual(views.map(({ id, status }) => [id, status]), [
    ['l', 'cancelled'],
    ['l/1', 'completed'],
    ['l/1/1', 'cancelled'],
    ['l/2', 'cancelled'],
  ]);
});

test('a called agent takes the place of its call', () => {
  assert.deepEqual(followed(finished()).map(({ id }) => id), ['l', 'l/1', 't', 't/1', 'l/1/2', 'l/2']);
});

test('the figures of a run are those of its turns until it ends', () => {
  const [run] = followed(new Script().begin(LEAD, 'Go').turn(LEAD, 1).said(LEAD, 1, 'One.'));

  assert.match(run?.figures ?? '', /^100 tokens in, 10 out/);
});

test('a page names side runs, says that a run waits, and has the messages that wait', () => {
  const { events } = waiting();
  const tree = RunTree.begun(events[0]?.params as AgentBegin);
  events.forEach((event) => tree.take(event));
  const { nodes, spoken } = new Telling({ shared: [], runs: [tree.root] }, NO_EDITS).state([]);
  const runs = nodes.filter((node): node is RunView => node.kind === 'run');

  assert.equal(spoken, 'lead: waits for lint-1');
  assert.deepEqual(
    runs.map(({ agent, isSide, state, queue }) => [agent, isSide, state, queue.map(({ text }) => text)]),
    [
      ['lead', false, 'waits for lint-1', []],
      ['lint-1', true, 'running', ['Only a.py']],
    ],
  );
});

test('a turn shows what its request has given', () => {
  const page = new Page();
  const { nodes } = page.after((script) =>
    script
      .message(LEAD, 'queued', { messageId: 'a', mode: 'next', text: 'Only a.py', from: 'person' })
      .message(LEAD, 'given', { turn: 1, sideRuns: [], messageIds: ['a'], text: 'Only a.py' })
      .turn(LEAD, 1),
  );

  const [turn] = nodes.filter((node): node is TurnView => node.kind === 'turn');
  assert.deepEqual(turn?.given, [{ heading: '1 message', text: 'Only a.py', isMessage: true }]);
});
