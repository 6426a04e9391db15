// Where the server's program is looked for, on a disk of the test's own.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { findProgram, type Surroundings } from '../../src/server/programs';
import { Disk } from './disk';

let disk: Disk;
let around: Surroundings;

beforeEach(() => {
  disk = new Disk();
  around = {
    setting: '',
    folders: [disk.path('project')],
    trusted: true,
    selectedPython: undefined,
    home: disk.path('home'),
    environment: { PATH: ['relative', disk.path('bin')].join(delimiter) },
    platform: 'linux',
  };
});

function found(changes: Partial<Surroundings> = {}): string {
  const search = findProgram({ ...around, ...changes });
  assert.ok('server' in search, JSON.stringify(search));
  return `${search.server.command} from ${search.server.source}`;
}

test('the project has its own server, which wins over all others', () => {
  disk.program('bin', 'axe-lsp');
  disk.program('conda', 'bin', 'axe-lsp');
  const own = disk.program('project', '.venv', 'bin', 'axe-lsp');
  assert.equal(found({ selectedPython: disk.path('conda', 'bin', 'python') }), `${own} from the .venv of the workspace`);
});

test('the Python that is selected for the workspace may have a server, which wins over the one on PATH', () => {
  disk.program('bin', 'axe-lsp');
  const beside = disk.program('conda', 'bin', 'axe-lsp');
  const selectedPython = disk.path('conda', 'bin', 'python');
  assert.equal(found({ selectedPython }), `${beside} from the selected Python environment`);
});

test('an untrusted project is not asked for its server', () => {
  disk.program('project', '.venv', 'bin', 'axe-lsp');
  disk.program('conda', 'bin', 'axe-lsp');
  const onPath = disk.program('bin', 'axe-lsp');
  const selectedPython = disk.path('conda', 'bin', 'python');
  assert.equal(found({ trusted: false, selectedPython }), `${onPath} from PATH`);
});

test('the setting wins over everything, and its shorthands are understood', () => {
  disk.program('project', '.venv', 'bin', 'axe-lsp');
  const chosen = disk.program('home', 'tools', 'axe-lsp');
  const inProject = disk.program('project', 'tools', 'axe-lsp');
  assert.equal(found({ setting: '~/tools/axe-lsp' }), `${chosen} from the setting axe.server.path`);
  assert.equal(found({ setting: '${workspaceFolder}/tools/axe-lsp' }), `${inProject} from the setting axe.server.path`);
});

test('a setting that leads nowhere is reported and not worked around', () => {
  disk.program('bin', 'axe-lsp');
  const search = findProgram({ ...around, setting: '/nowhere/axe-lsp' });
  assert.deepEqual(search, { tried: ['/nowhere/axe-lsp (the setting axe.server.path)'] });
});

test('on Windows the program has another name and folder', () => {
  const own = disk.program('project', '.venv', 'Scripts', 'axe-lsp.exe');
  assert.equal(found({ platform: 'win32' }), `${own} from the .venv of the workspace`);
});

test('a folder of that name is no program', () => {
  mkdirSync(disk.path('bin', 'axe-lsp'), { recursive: true });
  assert.ok('tried' in findProgram(around));
});

test('what was tried is told', () => {
  const search = findProgram({ ...around, selectedPython: '/conda/bin/python' });
  const tried = [join(disk.path('project'), '.venv/bin/axe-lsp'), '/conda/bin/axe-lsp', 'axe-lsp on PATH'];
  assert.deepEqual(search, { tried });
});
