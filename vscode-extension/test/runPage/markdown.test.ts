// Markdown that arrives in pieces.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrowingMarkdown } from '../../src/runPage/markdown';

const TEXT = `# Title

A *first* paragraph
of two lines.

- one
- two

  more of two

| a | b |
| - | - |
| 1 | 2 |

~~~python
print("# no title")

~~~

1. first

2. second

> quoted

The end.
`;

function inPieces(text: string, size: number): string {
  const growing = new GrowingMarkdown(1);
  let settled = '';
  let open = '';
  for (let at = 0; at < text.length; at += size) {
    const rendered = growing.grow(at, text.slice(at, at + size));
    settled += rendered.settled;
    ({ open } = rendered);
  }
  return settled + open;
}

test('in pieces of any size it comes to the same', () => {
  const whole = inPieces(TEXT, TEXT.length);
  assert.match(whole, /<h2>Title<\/h2>[^]*<table>[^]*<pre><code class="language-python">[^]*<blockquote>[^]*<p>The end\.<\/p>/);
  for (const size of [1, 2, 7, 40]) {
    assert.equal(inPieces(TEXT, size), whole, `in pieces of ${size}`);
  }
});

test('only the last block is rendered again', () => {
  const growing = new GrowingMarkdown(1);
  assert.deepEqual(growing.grow(0, 'one\n\ntwo\n'), { isNew: false, settled: '<p>one</p>\n', open: '<p>two</p>\n' });
  assert.deepEqual(growing.grow(9, 'three'), { isNew: false, settled: '', open: '<p>two\nthree</p>\n' });
});

test('a text that begins again replaces what was there', () => {
  const growing = new GrowingMarkdown(1);
  growing.grow(0, 'one\n\ntwo');
  assert.deepEqual(growing.grow(0, 'three'), { isNew: true, settled: '', open: '<p>three</p>\n' });
});

test('markup is text, and nothing is fetched or executed', () => {
  const rendered = inPieces('<img src=x onerror=alert(1)> ![p](https://host/p.png) [a](javascript:alert(1))', 9);
  assert.doesNotMatch(rendered, /<img|<script|href=/);
  assert.match(rendered, /&lt;img/);
  assert.match(rendered, /<a role="link" tabindex="0" data-target="https:\/\/host\/p.png" title="[^"]*">p<\/a>/);
});

test('line ends of Windows do not shift blocks', () => {
  assert.match(inPieces('one\r\n\r\ntwo\r\n\r\nthree', 1), /^<p>one\s*<\/p>\s*<p>two\s*<\/p>\s*<p>three<\/p>\s*$/);
});

test('a definition serves the links after it, in whatever pieces it came', () => {
  const text = '[guide]: docs/guide.md\n\nFirst.\n\nSee [guide].\n';
  for (const size of [1, 4, text.length]) {
    assert.match(inPieces(text, size), /data-target="docs\/guide\.md"[^>]*>guide<\/a>/, `in pieces of ${size}`);
  }
});

test('headings begin below the one of their turn, and cells keep their side without a style', () => {
  assert.match(inPieces('## One\n\n### Two\n\n# Three\n', 3), /<h2>One<\/h2>\s*<h3>Two<\/h3>\s*<h2>Three<\/h2>/);
  assert.match(inPieces('| a |\n|--:|\n| 1 |\n', 3), /<td class="right">1<\/td>/);
});
