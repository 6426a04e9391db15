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

> quoted

The end.
`;

function inPieces(text: string, size: number): string {
  const growing = new GrowingMarkdown();
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
  assert.match(whole, /<h1>Title<\/h1>[^]*<table>[^]*<pre><code class="language-python">[^]*<blockquote>[^]*<p>The end\.<\/p>/);
  for (const size of [1, 2, 7, 40]) {
    assert.equal(inPieces(TEXT, size), whole, `in pieces of ${size}`);
  }
});

test('only the last block is rendered again', () => {
  const growing = new GrowingMarkdown();
  assert.deepEqual(growing.grow(0, 'one\n\ntwo'), { isNew: false, settled: '<p>one</p>\n', open: '<p>two</p>\n' });
  assert.deepEqual(growing.grow(8, ' three'), { isNew: false, settled: '', open: '<p>two three</p>\n' });
});

test('a text that begins again replaces what was there', () => {
  const growing = new GrowingMarkdown();
  growing.grow(0, 'one\n\ntwo');
  assert.deepEqual(growing.grow(0, 'three'), { isNew: true, settled: '', open: '<p>three</p>\n' });
});

test('markup is text, and nothing is fetched or executed', () => {
  const rendered = inPieces('<img src=x onerror=alert(1)> ![p](https://host/p.png) [a](javascript:alert(1))', 9);
  assert.doesNotMatch(rendered, /<img|<script|href="javascript/);
  assert.match(rendered, /&lt;img/);
  assert.match(rendered, /<a href="https:\/\/host\/p.png">p<\/a>/);
});

test('line ends of Windows do not shift blocks', () => {
  assert.match(inPieces('one\r\n\r\ntwo\r\n\r\nthree', 1), /^<p>one\s*<\/p>\s*<p>two\s*<\/p>\s*<p>three<\/p>\s*$/);
});
