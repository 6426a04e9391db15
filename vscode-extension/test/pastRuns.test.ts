import assert from 'node:assert/strict';
import test from 'node:test';
import { pastRunItem } from '../src/pastRuns';

test('a past run is offered with how it ended, when it was, and what it was about', () => {
  const run = { runId: '3f2a', agent: 'lead', status: 'failed', began: '2026-05-02T10:00:01.000Z' } as const;

  const item = pastRunItem({ ...run, task: 'Check\n  this ' }, 'en-US');

  assert.equal(item.label, '$(error) lead');
  assert.match(item.description, /^failed · \d+\/\d+\/2026, /);
  assert.equal(item.detail, 'Check this');
  assert.equal(item.runId, '3f2a');
  assert.match(item.title, /^lead, \d+-\d+-2026, /);
});

test('a run without a task has no second line', () => {
  assert.equal(pastRunItem({ runId: '1', agent: 'a', status: 'running', began: '2026-05-02T10:00:01.000Z' }).detail, '');
});
