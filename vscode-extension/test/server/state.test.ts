// How the state of the server is told, and when a crashed one is started again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_CRASHES, Restarts, WINDOW_MINUTES } from '../../src/server/restarts';
import { mismatch, notFoundMessage, statusOf } from '../../src/server/state';

const server = { command: '/bin/axe-lsp', args: [], source: 'PATH' };

test('a server that runs is told with its version and where it comes from', () => {
  const status = statusOf({ kind: 'running', server, version: '0.1.3', isReading: false }, '0.1.0');
  assert.equal(status.text, 'axe-lsp 0.1.3');
  assert.equal(status.detail, 'running, from PATH');
  assert.equal(status.severity, 'information');
  assert.equal(status.command.command, 'axeLsp.restart');
});

test('another series of versions is a warning, another patch is none', () => {
  assert.equal(statusOf({ kind: 'running', server, version: '0.2.0', isReading: false }, '0.1.0').severity, 'warning');
  assert.match(mismatch('0.2.0', '0.1.0') ?? '', /version 0\.2\.0, this extension 0\.1\.0/);
  assert.equal(mismatch('0.1.9', '0.1.0'), undefined);
  assert.equal(mismatch('', '0.1.0'), undefined);
});

test('a server that reads agent files is busy', () => {
  const status = statusOf({ kind: 'running', server, version: '0.1.0', isReading: true }, '0.1.0');
  assert.equal(status.detail, 'reading agent files, from PATH');
  assert.ok(status.busy);
});

test('where the workspace is not trusted, the status says that agents do not run, and leads to what trust means', () => {
  const status = statusOf({ kind: 'running', server, version: '0.1.0', isReading: false }, '0.1.0', false);
  assert.equal(status.detail, 'running, from PATH; agents do not run, because you have not trusted this workspace');
  assert.equal(status.command.command, 'workbench.trust.manage');
});

test('a server that is on its way is busy, one that is missing offers to install it', () => {
  assert.equal(statusOf({ kind: 'starting', server }, '0.1.0').busy, true);
  const missing = statusOf({ kind: 'missing', tried: [] }, '0.1.0');
  assert.equal(missing.severity, 'error');
  assert.equal(missing.command.command, 'axeLsp.installServer');
});

test('the message about a missing server says where it was looked for', () => {
  assert.equal(
    notFoundMessage(['/p/.venv/bin/axe-lsp', 'axe-lsp on PATH']),
    'The axe language server was not found. Tried: /p/.venv/bin/axe-lsp; axe-lsp on PATH.',
  );
});

test('a server that crashes is started again, but not for ever', () => {
  const restarts = new Restarts(() => 0);
  const allowed = Array.from({ length: MOST_CRASHES + 1 }, () => restarts.allowAnother());
  assert.deepEqual(allowed, [...Array<boolean>(MOST_CRASHES).fill(true), false]);
});

test('crashes of long ago are forgotten', () => {
  let minutes = 0;
  const restarts = new Restarts(() => minutes * 60_000);
  for (; minutes < 100; minutes += WINDOW_MINUTES) {
    assert.ok(restarts.allowAnother());
    assert.ok(restarts.allowAnother());
  }
});
