// Where the server is looked for, on a disk of the test's own.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { findServer, notFoundMessage, type Surroundings } from '../src/server';

let disk: string;
let around: Surroundings;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'axe-find-'));
  around = {
    setting: '',
    folders: [join(disk, 'project')],
    trusted: true,
    home: join(disk, 'home'),
    environment: { PATH: ['relative', join(disk, 'bin')].join(delimiter) },
    platform: 'linux',
  };
});

function program(...path: string[]): string {
  const file = join(disk, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
}

test('the project has its own server, which wins over the one on PATH', () => {
  program('bin', 'axe-lsp');
  const own = program('project', '.venv', 'bin', 'axe-lsp');
  assert.deepEqual(findServer(around), { command: own });
});

test('an untrusted project is not asked for its server', () => {
  program('project', '.venv', 'bin', 'axe-lsp');
  const onPath = program('bin', 'axe-lsp');
  assert.deepEqual(findServer({ ...around, trusted: false }), { command: onPath });
});

test('the setting wins over everything, and its shorthands are understood', () => {
  program('project', '.venv', 'bin', 'axe-lsp');
  const chosen = program('home', 'tools', 'axe-lsp');
  const inProject = program('project', 'tools', 'axe-lsp');
  assert.deepEqual(findServer({ ...around, setting: '~/tools/axe-lsp' }), { command: chosen });
  assert.deepEqual(findServer({ ...around, setting: '${workspaceFolder}/tools/axe-lsp' }), { command: inProject });
});

test('a setting that leads nowhere is reported and not worked around', () => {
  program('bin', 'axe-lsp');
  const search = findServer({ ...around, setting: '/nowhere/axe-lsp' });
  assert.deepEqual(search, { tried: ['/nowhere/axe-lsp (the setting axe.server.path)'] });
});

test('on Windows the program has another name and folder', () => {
  const own = program('project', '.venv', 'Scripts', 'axe-lsp.exe');
  assert.deepEqual(findServer({ ...around, platform: 'win32' }), { command: own });
});

test('a folder of that name is no program', () => {
  mkdirSync(join(disk, 'bin', 'axe-lsp'), { recursive: true });
  assert.ok('tried' in findServer(around));
});

test('the message says what was tried and what to do', () => {
  const search = findServer(around);
  assert.ok('tried' in search);
  const message = notFoundMessage(search.tried);
  assert.match(message, /project\/\.venv\/bin\/axe-lsp; axe-lsp on PATH/);
  assert.match(message, /pipx install CLONE.*axe\.server\.path/);
});
