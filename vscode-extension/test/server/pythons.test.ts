// Which Python runs the server that comes with the extension.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { delimiter } from 'node:path';
import { beforeEach, test } from 'node:test';
import { bundledServer, bundleIn, wheelIn } from '../../src/server/bundle';
import type { Surroundings } from '../../src/server/programs';
import { findPython, isRecent, pythonCandidates } from '../../src/server/pythons';
import { Disk } from './disk';

let disk: Disk;
let around: Surroundings;

beforeEach(() => {
  disk = new Disk();
  around = {
    setting: '',
    folders: [],
    trusted: true,
    selectedPython: undefined,
    home: '/nowhere',
    environment: { PATH: ['relative', disk.path('bin'), disk.path('later')].join(delimiter) },
    platform: 'linux',
  };
});

function python(version: string, ...path: string[]): string {
  return disk.script(path, `#!/bin/sh\necho ${version}\n`);
}

test('the selected Python comes first, then the usual names, then those of versions', () => {
  const later = python('3.12', 'later', 'python3.12');
  const usual = python('3.9', 'bin', 'python3');
  const selectedPython = python('3.11', 'conda', 'python');
  assert.deepEqual(pythonCandidates({ ...around, selectedPython }, ''), [selectedPython, usual, later]);
  assert.deepEqual(pythonCandidates({ ...around, selectedPython, trusted: false }, ''), [usual, later]);
});

test('a setting is the only candidate', () => {
  python('3.12', 'bin', 'python3');
  assert.deepEqual(pythonCandidates(around, '/opt/python'), ['/opt/python']);
});

test('the first that is recent enough is taken', async () => {
  const old = python('3.9', 'a');
  const broken = disk.script(['b'], '#!/bin/sh\nexit 9009\n');
  const good = python('3.13', 'c');
  assert.deepEqual(await findPython([old, broken, good]), { python: { path: good, version: '3.13' } });
  assert.deepEqual(await findPython([old, broken]), { tried: [`${old}, which is 3.9`, `${broken}, which does not run`] });
});

test('3.9 and 2.7 are too old, 3.10 and 4.0 are not', () => {
  assert.deepEqual(['3.9', '2.7', '3.10', '4.0'].map(isRecent), [false, false, true, true]);
});

test('the server in the extension is for the versions that it has packages for', async () => {
  const starter = disk.script(['bundled', 'axe-lsp.py'], '');
  mkdirSync(disk.path('bundled', 'cp312'));
  const bundle = bundleIn(disk.path());
  assert.ok(bundle);
  const search = await findPython([python('3.14', 'a'), python('3.12', 'b')], (version) => bundle.accepts(version));
  assert.ok('python' in search);
  assert.deepEqual(bundledServer(bundle, search.python), {
    command: disk.path('b'),
    args: ['-I', starter],
    source: `the extension, with Python 3.12 (${disk.path('b')})`,
  });
});

test('an extension without a server in it has neither a bundle nor a wheel', () => {
  assert.equal(bundleIn(disk.path()), undefined);
  assert.equal(wheelIn(disk.path()), undefined);
  const wheel = disk.script(['bundled', 'axe_lsp-0.1.0-py3-none-any.whl'], '');
  assert.equal(wheelIn(disk.path()), wheel);
});
