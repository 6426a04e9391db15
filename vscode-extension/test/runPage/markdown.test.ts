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

const MANY = Array.from({ length: 1000 }, (_, number) => number + 1);

/** The largest piece of HTML that was replaced, all that was drawn at the end, and the text in it. */
function grown(text: string): { largest: number; html: string; words: string } {
  const growing = new GrowingMarkdown(1);
  let [settled, open, largest] = ['', '', 0];
  for (let at = 0; at < text.length; at += 7) {
    const rendered = growing.grow(at, text.slice(at, at + 7));
    settled += rendered.settled;
    ({ open } = rendered);
    largest = Math.max(largest, open.length);
  }
  const html = settled + open;
  return { largest, html, words: html.replaceAll(/<[^>]*>/g, '') };
}

test('a long block of code is finished in parts, and nothing of it is lost or added', () => {
  const code = MANY.map((number) => `line ${number}\n`).join('');
  for (const [opening, closing] of [['```python', '```'], ['  ~~~', '  ~~~']]) {
    const { largest, html, words } = grown(`Before.\n\n${opening}\n${code}${closing}\nAfter.\n`);
    assert.ok(largest < 4000, `${largest} characters are drawn again`);
    assert.equal(words.replaceAll('\n\n', '\n'), `Before.\n${code}After.\n`);
    assert.equal(html.split('<pre>').length - 1, 5);
    assert.match(html, /<code class="(goes-on language-python|goes-on)">line 1\n/);
    assert.match(html, /<code class="continued goes-on[^"]*">line 201\n/);
  }
});

test('code that is not closed goes on to the end', () => {
  const code = MANY.map((number) => `line ${number}\n`).join('');
  assert.equal(grown(`\`\`\`\n${code}last`).words.replaceAll('\n\n', '\n').trimEnd(), `${code}last`);
});

test('a long list is finished in parts, and goes on counting', () => {
  for (const [mark, list] of [['-', 'ul'], ['1.', 'ol']]) {
    const { largest, html } = grown(`${MANY.map((number) => `${mark} item ${number}\n`).join('')}\nAfter.\n`);
    assert.ok(largest < 9000, `${largest} characters are drawn again`);
    const items = [...html.matchAll(/<li>(.*?)<\/li>/g)].map(([, text]) => text);
    assert.deepEqual(items, MANY.map((number) => `item ${number}`));
    assert.match(html, new RegExp(`^<${list} class="goes-on">`));
    assert.match(html, list === 'ol' ? /<ol class="continued goes-on" start="201">\n<li>item 201</ : /<ul class="continued goes-on">\n<li>item 201</);
    assert.match(html, /<p>After\.<\/p>/);
  }
});

test('a long table is finished in parts, each of which has the head', () => {
  const rows = MANY.map((number) => `| ${number} | word |\n`).join('');
  const { largest, html } = grown(`| N | Word |\n| -: | --- |\n${rows}\nAfter.\n`);
  assert.ok(largest < 15_000, `${largest} characters are drawn again`);
  const numbers = [...html.matchAll(/<td class="right">(\d+)<\/td>/g)].map(([, number]) => Number(number));
  assert.deepEqual(numbers, MANY);
  assert.match(html, /^<table class="goes-on">[^]*<table class="continued goes-on">[^]*<table class="continued">[^]*<p>After\.<\/p>/);
  assert.equal(html.split('<th>Word</th>').length, html.split('<table').length);
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

test('tasks of a list have boxes, and brackets elsewhere stay as they are', () => {
  const html = inPieces('- [x] done\n- [ ] to do\n- [y] no task\n\nNo [x] task\n', 3);
  assert.match(html, /<li>☑ done<\/li>\s*<li>☐ to do<\/li>\s*<li>\[y\] no task<\/li>/);
  assert.match(html, /<p>No \[x\] task<\/p>/);
});

const link = (place: string) => `<a role="link" tabindex="0" data-target="${place}" title="${place}">`;

test('places in files are links, in a text and in code of a line', () => {
  assert.equal(inPieces('See src/app.py:12, and `a.ts:3:4`.', 99), `<p>See ${link('src/app.py:12')}src/app.py:12</a>, and ${link('a.ts:3:4')}<code>a.ts:3:4</code></a>.</p>\n`);
  assert.match(inPieces('../x/a.md#L7', 99), /data-target="\.\.\/x\/a\.md#L7"/);
  assert.match(inPieces('C:\\src\\a.py:1', 99), /data-target="C:\\src\\a\.py:1"/);
});

test('what is no place in a file, or is in a link or a block of code, is no further link', () => {
  for (const text of ['https://example.org/a.html:80', 'at 10:30', 'localhost:8080', 'file.name', '`see a.py:1`', '    a.py:1', '//host.example/a.py:1', 'command:a.b:1']) {
    assert.doesNotMatch(inPieces(text, 99), /data-target/, text);
  }
  assert.equal(inPieces('[a.py:1](b.py)', 99).match(/data-target/g)?.length, 1);
});

test('a long text without places is searched in no time', () => {
  const began = performance.now();
  inPieces(`${'a.'.repeat(50_000)} ${'a/'.repeat(50_000)}`, 1_000_000);
  assert.ok(performance.now() - began < 2000);
});
