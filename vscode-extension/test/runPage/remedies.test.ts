// What the page of a failed run offers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediesOf } from '../../src/runPage/remedies';
import { RunTree } from '../../src/runs/runTree';
import { past, Script } from '../runs/events';

/** What helps after an error in a first turn. */
function after(error: string, more: object = {}) {
  const tree = RunTree.remembered(past('l', 0, { model: 'openai/m', status: 'failed', error, ...more }));
  new Script().turn({ runId: 'l', agent: 'lead', depth: 0 }, 1).events.forEach((event) => tree.take(event));
  return remediesOf(tree.root);
}

test('a missing key is named by its variable, a refused one by its provider', () => {
  const missing = 'API key for provider "openai" is not configured (set OPENAI_API_KEY or add to config.toml)';
  assert.deepEqual(after(missing)?.key, { variable: 'OPENAI_API_KEY' });
  assert.deepEqual(after('auth: no such key')?.key, { provider: 'openai' });
  assert.equal(after('overloaded: Overloaded')?.key, undefined);
});

test('another model is offered after errors of a provider alone', () => {
  assert.equal(after('overloaded: Overloaded')?.canSwitch, true);
  assert.equal(after('budget exceeded: used 15 of 10 tokens')?.canSwitch, false);
});

test('a run goes on if it can, else another one begins; what has not failed needs no help', () => {
  assert.equal(after('overloaded: Overloaded', { resumable: true })?.retry, 'continue');
  assert.equal(after('overloaded: Overloaded')?.retry, 'again');
  assert.equal(after('', { status: 'completed' }), undefined);
  assert.equal(after('cancelled', { status: 'cancelled' }), undefined);
});
