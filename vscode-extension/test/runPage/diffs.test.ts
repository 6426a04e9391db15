// How the lines of a change are marked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marksOf, numbersOf } from '../../src/runPage/diffs';

test('the names of the files are neither added nor removed', () => {
  const lines = ['--- a.txt', '+++ a.txt', '@@ -1,2 +1,2 @@', ' Notes.', '-- Friday', '+- Monday'];
  assert.deepEqual(marksOf(lines), ['quiet', 'quiet', 'quiet', '', 'removed', 'added']);
});

test('a change without places is marked from its first line on', () => {
  assert.deepEqual(marksOf(['-old', '+new', ' same', '']), ['removed', 'added', '', '']);
});

test('lines have their numbers before and after from the first place on', () => {
  const lines = ['--- a.txt', '+++ a.txt', '@@ -9,3 +9,2 @@', ' same', '-old', '-older', '+new', '\\ No newline at end of file'];
  assert.deepEqual(numbersOf(lines), ['     ', '     ', '     ', ' 9  9', '10   ', '11   ', '   10', '     ']);
  assert.deepEqual(numbersOf(['-old', '+new']), ['', '']);
});
