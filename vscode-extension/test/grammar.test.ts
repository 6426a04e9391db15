// How agent files are coloured: all that TOML has, and Markdown in prompts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { loadWASM, OnigScanner, OnigString } from 'vscode-oniguruma';
import { INITIAL, Registry, type IGrammar } from 'vscode-textmate';

/** A stand-in for VS Code's: headings, and code that swallows everything until it is closed. */
const MARKDOWN = {
  scopeName: 'text.html.markdown',
  repository: {},
  patterns: [
    { name: 'markup.heading.markdown', match: '^#+ .*$' },
    { name: 'markup.fenced_code.block.markdown', begin: '^```', end: '^```' },
  ],
};

let grammar: IGrammar;

before(async () => {
  const root = process.cwd();
  await loadWASM(readFileSync(join(root, 'node_modules/vscode-oniguruma/release/onig.wasm')).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns: string[]) => new OnigScanner(patterns),
      createOnigString: (text: string) => new OnigString(text),
    }),
    loadGrammar: async (scope) => {
      if (scope === 'text.html.markdown') {
        return MARKDOWN as never;
      }
      return JSON.parse(readFileSync(join(root, `syntaxes/${scope.replace('source.', '')}.tmLanguage.json`), 'utf8'));
    },
  });
  const loaded = await registry.loadGrammar('source.axe-agent');
  assert.ok(loaded);
  grammar = loaded;
});

/** The pieces of a text that have a colour, each with the first two parts of its innermost scope. */
function coloured(text: string): string[] {
  const pieces: string[] = [];
  let state = INITIAL;
  for (const line of text.split('\n')) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    for (const { startIndex, endIndex, scopes } of tokens) {
      const scope = scopes.at(-1) ?? '';
      const piece = line.slice(startIndex, endIndex);
      if (piece.trim() && scope !== 'source.axe-agent' && !scope.startsWith('meta')) {
        pieces.push(`${piece.trim()} ${scope.split('.').slice(0, 2).join('.')}`);
      }
    }
  }
  return pieces;
}

test('keys, bare, quoted and dotted', () => {
  const separator = '= punctuation.separator';
  assert.deepEqual(coloured('a.b-c."d e".f = true'), [
    'a variable.other',
    'b-c variable.other',
    '"d e" variable.other',
    'f variable.other',
    separator,
    'true constant.language',
  ]);
});

test('tables and arrays of tables', () => {
  const bracket = 'punctuation.definition';
  assert.deepEqual(coloured('[task.type."x y"] # why\n[[mcp_servers]]'), [
    `[ ${bracket}`,
    'task entity.name',
    'type entity.name',
    '"x y" variable.other',
    `] ${bracket}`,
    '# why comment.line',
    `[[ ${bracket}`,
    'mcp_servers entity.name',
    `]] ${bracket}`,
  ]);
});

const values = {
  '1_000': 'constant.numeric',
  '-0.5e-3': 'constant.numeric',
  '+inf': 'constant.numeric',
  '0xDEAD_beef': 'constant.numeric',
  '1979-05-27T07:32:00.5-07:00': 'constant.other',
  '1979-05-27 07:32:00Z': 'constant.other',
  '1979-05-27': 'constant.other',
  '07:32:00': 'constant.other',
  false: 'constant.language',
  "'C:\\path'": 'string.quoted',
};

for (const [value, scope] of Object.entries(values)) {
  test(`the value ${value}`, () => {
    const pieces = coloured(`a = ${value}`).slice(2);
    assert.equal(pieces.map((piece) => piece.slice(0, piece.lastIndexOf(' '))).join(''), value);
    assert.deepEqual([...new Set(pieces.map((piece) => piece.slice(piece.lastIndexOf(' ') + 1)))], [scope]);
  });
}

test('escapes, right and wrong ones', () => {
  const pieces = coloured('a = "\\n \\u00e9 \\q"');
  assert.ok(pieces.includes('\\n constant.character'));
  assert.ok(pieces.includes('\\u00e9 constant.character'));
  assert.ok(pieces.includes('\\q invalid.illegal'));
});

test('arrays and inline tables over several lines, and what comes after them', () => {
  const pieces = coloured('a = [\n  "x", # one\n  { b = 1, c.d = [2] },\n]\ne = 3');
  for (const piece of ['x string.quoted', '# one comment.line', 'b variable.other', 'd variable.other', 'e variable.other']) {
    assert.ok(pieces.includes(piece), piece);
  }
});

test('strings over several lines, with quotes in them, and what comes after them', () => {
  const pieces = coloured('a = """\nsay ""x"" # no comment\n""" # a comment\nb = \'\'\'\n[no table]\n\'\'\'\nc = 1');
  assert.ok(pieces.includes('say ""x"" # no comment string.quoted'));
  assert.ok(pieces.includes('# a comment comment.line'));
  assert.ok(pieces.includes('[no table] string.quoted'));
  assert.ok(pieces.includes('c variable.other'));
});

test('prompts are Markdown, up to their closing quotes, whatever Markdown has left open', () => {
  const pieces = coloured('system_prompt = """\n# Role\n```\nname = 1\nthe end."""\nmodel = "x"');
  assert.ok(pieces.includes('# Role markup.heading'));
  assert.ok(pieces.includes('name = 1 markup.fenced_code'));
  assert.ok(pieces.includes('the end. string.quoted'));
  assert.ok(pieces.includes('model variable.other'));
});

test('prompts on one line', () => {
  for (const prompt of ['"""Be brief."""', "'''Be brief.'''", '"Be brief."']) {
    const pieces = coloured(`system_prompt = ${prompt}\nmodel = 1`);
    assert.ok(pieces.some((piece) => piece.includes('Be brief.') && piece.endsWith('string.quoted')), prompt);
    assert.ok(pieces.includes('model variable.other'), prompt);
  }
});
