// What helps after a failure.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToldByPage, remediesOf } from '../src/failures';

test('a missing key can be set, and is named', () => {
  const message = 'API key for provider "openai" is not configured (set OPENAI_API_KEY or add to config.toml)';
  assert.deepEqual(remediesOf({ message, data: { reason: 'missingKey' } }), [{ kind: 'key', variable: 'OPENAI_API_KEY' }, { kind: 'settings' }]);
});

test('a key that was refused can be replaced', () => {
  const message = 'auth: OPENAI_API_KEY is not valid';
  assert.deepEqual(remediesOf({ message, data: { reason: 'auth' } }), [{ kind: 'key' }, { kind: 'settings' }]);
});

test('an error in a file leads to its place', () => {
  const message = 'failed to parse agent config "a": model must be a string, not an integer. The error is at C:\\axe\\a.toml:1:9';
  assert.deepEqual(remediesOf({ message, data: { kind: 'config' } }), [{ kind: 'place', path: 'C:\\axe\\a.toml', line: 1, column: 9 }]);
});

test('another mistake in an agent or in config.toml leads to the problems', () => {
  assert.deepEqual(remediesOf({ message: 'unsupported provider "x"', data: { kind: 'config' } }), [{ kind: 'problems' }]);
});

test('a fault of the server leads to its log, and other failures to nothing', () => {
  assert.deepEqual(remediesOf({ message: 'internal error', code: -32603 }), [{ kind: 'log' }]);
  assert.deepEqual(remediesOf({ message: 'no such model', code: -32803 }), []);
});

test('the failure of a run leads to the run, unless its page is in sight or something else helps', () => {
  const data = { kind: 'api', exitCode: 3, runId: 'a' };
  const failure = { message: 'no such model', code: -32803, data };
  assert.deepEqual(remediesOf(failure), [{ kind: 'run', runId: 'a' }]);
  assert.equal(isToldByPage(failure, (runId) => runId === 'a'), true);
  assert.equal(isToldByPage(failure, () => false), false);
  assert.equal(isToldByPage({ ...failure, data: { ...data, reason: 'auth' } }, () => true), false);
  assert.equal(isToldByPage({ message: 'no such model', code: -32803 }, () => true), false);
});
