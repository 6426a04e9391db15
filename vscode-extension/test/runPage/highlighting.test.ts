// Code in colours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf } from '../../src/runPage/highlighting';

test('code has pieces with their kinds, which are the code in order', () => {
  const code = 'def f(a):\n    return "<b>" + str(1)  # why\n';
  const pieces = piecesOf(code, 'python');
  assert.equal(pieces.map(({ text }) => text).join(''), code);
  const kinds = Object.fromEntries(pieces.map(({ text, kind }) => [text.trim(), kind]));
  assert.deepEqual(
    [kinds['def'], kinds['f'], kinds['"<b>"'], kinds['1'], kinds['# why']],
    ['keyword', 'title.function', 'string', 'number', 'comment'],
  );
});

test('code in another language is a part of it', () => {
  const code = '<style>a { color: red; }</style>\n';
  const pieces = piecesOf(code, 'html');
  assert.equal(pieces.map(({ text }) => text).join(''), code);
  assert.ok(pieces.some(({ text, kind }) => text === 'color' && kind === 'attribute'));
});

test('the languages that models write have colours', () => {
  for (const name of ['ts', 'js', 'jsx', 'py', 'sh', 'console', 'json', 'yml', 'toml', 'html', 'sql', 'rs', 'go', 'java', 'cpp', 'diff', 'css']) {
    assert.ok(piecesOf('a = 1', name).length > 0, name);
  }
});

test('unknown languages and very long code have no colours', () => {
  assert.deepEqual(piecesOf('a = 1', 'nonsense'), []);
  assert.deepEqual(piecesOf('a = 1\n'.repeat(6000), 'python'), []);
});
