// All runs that are known: live ones, remembered ones, and those of other processes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Happening, PastRun } from '../../src/protocol';
import { waitingElsewhere } from '../../src/runs/presenting';
import { RunStore } from '../../src/runs/store';
import { finished, LEAD, past, Script, START } from './events';

/** A server's memory, which a test fills. */
class Memory {
  runs: PastRun[] = [];
  events: Happening[] = [];
  readonly asked: string[] = [];
  readonly changes: unknown[] = [];

  readonly store = new RunStore(
    {
      runs: async ({ limit, before }) => {
        this.asked.push('runs');
        const start = before === undefined ? 0 : this.runs.findIndex((run) => run.runId === before) + 1;
        return this.runs.slice(start, start + limit);
      },
      events: async ({ runId, after }) => {
        this.asked.push(`events of ${runId} after ${after}`);
        return this.events.filter(({ params }) => params.rootRunId === runId && params.seq > after);
      },
    },
    (changed) => this.changes.push(changed),
  );
}

test('older runs of another list are those of the new one', async () => {
  const memory = new Memory();
  memory.runs = Array.from({ length: 60 }, (_, number) => past(`a${number}`, -number));
  await memory.store.refresh();
  assert.ok(memory.store.hasMore);
  memory.runs = [past('b', 0)];
  memory.store.begin();
  await memory.store.refresh();
  assert.ok(!memory.store.hasMore);
});

test('what happens now is shown without asking', () => {
  const { store, asked } = new Memory();

  finished().events.forEach((event) => store.take(event));

  assert.deepEqual(store.roots().map((run) => [run.agent, run.status, run.turns.length]), [['lead', 'completed', 2]]);
  assert.deepEqual(asked, []);
});

test('a run is under way from its beginning to its end', () => {
  const { store } = new Memory();
  const { events } = finished();

  events.slice(0, 3).forEach((event) => store.take(event));
  assert.equal(store.going()[0]?.agent, 'lead');

  events.slice(3).forEach((event) => store.take(event));
  assert.deepEqual(store.going(), []);
});

test('what was missed is asked for', async () => {
  const memory = new Memory();
  const { events } = finished();
  memory.events = events;

  events.slice(0, 2).forEach((event) => memory.store.take(event));
  memory.store.take(events[5] as Happening);
  memory.store.take(events[6] as Happening);
  await memory.store.find('l');
  await settled();

  assert.deepEqual(memory.asked, ['events of l after 2']);
  assert.equal(memory.store.roots()[0]?.turns.length, 2);
});

test('a run that began before anybody listened is looked up', async () => {
  const memory = new Memory();
  const { events } = finished();
  memory.runs = [past('l', START, { status: 'running' })];
  memory.events = events.slice(0, 4);

  memory.store.take(events[2] as Happening);
  await settled();
  memory.store.take(events[3] as Happening);
  await settled();

  assert.equal(memory.store.roots()[0]?.turns[0]?.text, 'I ask.');
});

test('past runs are listed, newest first, and their events are asked for once', async () => {
  const memory = new Memory();
  memory.runs = [past('k', START + 60_000), past('l', START)];
  memory.events = finished().events;

  await memory.store.refresh();
  const [newest, oldest] = memory.store.roots();
  assert.equal(newest?.runId, 'k');
  assert.ok(oldest && !memory.store.isWhole(oldest));

  await memory.store.load(oldest);
  await memory.store.load(oldest);
  assert.ok(memory.store.isWhole(oldest));
  assert.deepEqual(memory.asked, ['runs', 'events of l after 0']);
});

test('older runs come page by page', async () => {
  const memory = new Memory();
  memory.runs = Array.from({ length: 70 }, (_, index) => past(`r${index}`, START - index * 1000));

  await memory.store.refresh();
  assert.equal(memory.store.roots().length, 50);
  assert.ok(memory.store.hasMore);

  await memory.store.loadMore();
  await memory.store.refresh();
  assert.equal(memory.store.roots().length, 70);
  assert.ok(!memory.store.hasMore);
});

test('a run of another process waits for an answer until the list says otherwise, or its events come here', async () => {
  const memory = new Memory();
  const { events } = finished();
  const running = past('l', START, { status: 'running' });
  const reads = async (waits: boolean) => {
    memory.runs = [waits ? { ...running, waits } : running];
    await memory.store.refresh();
    const [root] = memory.store.roots();
    assert.ok(root);
    return waitingElsewhere(root);
  };

  assert.equal(await reads(true), 'waits for an answer elsewhere');
  assert.equal(await reads(false), '');
  memory.changes.length = 0;
  assert.equal(await reads(true), 'waits for an answer elsewhere');
  assert.equal(memory.changes.length, 1, 'its row is drawn anew');
  assert.equal(await reads(true), 'waits for an answer elsewhere');
  assert.equal(memory.changes.length, 1, 'but only then');
  memory.store.take(events[0] as Happening);
  assert.equal(await reads(true), '');
});

test('a run of another process is followed once somebody looks at it', async () => {
  const memory = new Memory();
  const { events } = finished();
  memory.runs = [past('l', START, { status: 'running' })];
  memory.events = events.slice(0, 3);
  await memory.store.refresh();
  const root = memory.store.roots()[0];
  assert.ok(root);
  assert.deepEqual(memory.store.going(), [], 'it can only be stopped elsewhere');

  await memory.store.load(root);
  assert.equal(root.turns[0]?.text, 'I as');

  memory.runs = [past('l', START)];
  memory.events = events;
  await memory.store.refresh();
  assert.equal(root.status, 'completed');
  assert.equal(root.turns.length, 2);
});

test('of a run of another process at which nobody looks the list says enough', async () => {
  const memory = new Memory();
  memory.runs = [past('l', START, { status: 'running' })];
  await memory.store.refresh();

  memory.runs = [past('l', START, { status: 'failed', error: 'no key' })];
  await memory.store.refresh();

  assert.equal(memory.store.roots()[0]?.status, 'failed');
  assert.equal(memory.store.roots()[0]?.error, 'no key');
  assert.deepEqual(memory.asked, ['runs', 'runs']);
});

test('a run that is in no list is found by its id', async () => {
  const memory = new Memory();
  memory.events = finished().events;

  assert.equal((await memory.store.find('l'))?.agent, 'lead');
  assert.equal(await memory.store.find('x'), undefined);
});

test('what happens elsewhere is looked at until the run has ended', async () => {
  const memory = new Memory();
  memory.runs = [past('l', START, { status: 'running' })];
  await memory.store.refresh();
  const [root] = memory.store.roots();
  assert.ok(root);
  memory.events = finished().events;

  await memory.store.look(root);
  await memory.store.look(root);

  assert.equal(root.status, 'completed');
  assert.deepEqual(memory.asked, ['runs', 'events of l after 0']);
});

test('a run that has outlived its server goes on where it was', async () => {
  const memory = new Memory();
  new Script().begin(LEAD, '').turn(LEAD, 1).events.forEach((event) => memory.store.take(event));
  memory.store.loseAll(START + 5000);
  memory.runs = [past('l', START, { status: 'running' })];

  await memory.store.refresh();

  assert.deepEqual(memory.store.roots().map(({ status, turns }) => [status, turns[0]?.status]), [['running', 'running']]);
});

test('when the server has gone, its runs are over, and those of others are not', async () => {
  const memory = new Memory();
  memory.runs = [past('o', START, { status: 'running' })];
  await memory.store.refresh();
  new Script().begin(LEAD, '').turn(LEAD, 1).events.forEach((event) => memory.store.take(event));

  const lost = memory.store.loseAll(START + 5000);

  assert.deepEqual(lost.map((run) => run.runId), ['l']);
  assert.deepEqual(memory.store.roots().map((run) => run.status).sort(), ['killed', 'running']);
  assert.ok(memory.changes.includes(lost[0]), 'documents and timelines of the run hear of it');
});

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
