// Markdown that grows: what is finished is rendered once, and only its last block again with each piece. Markup in it is text,
// pictures are links, and nothing is fetched. Knows no document.

import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt({ html: false }).disable('image');

export interface Rendered {
  /** Whether what was rendered before does not count any more. */
  readonly isNew: boolean;
  /** HTML of blocks that do not change any more, to be put behind those before. */
  readonly settled: string;
  /** HTML of the last block, in place of the one before. */
  readonly open: string;
}

export class GrowingMarkdown {
  private text = '';
  /** Where the block begins that may still change. */
  private settledTo = 0;

  /** The text is what it was up to `kept`, and goes on with `more`. */
  grow(kept: number, more: string): Rendered {
    const isNew = kept < this.text.length;
    this.text = this.text.slice(0, kept) + more.replaceAll('\r', ' ');
    if (isNew) {
      this.settledTo = 0;
    }
    const rest = this.text.slice(this.settledTo);
    const env = {};
    const tokens = markdown.parse(rest, env);
    const last = tokens.findLastIndex((token) => token.level === 0 && token.nesting >= 0);
    const line = tokens[last]?.map?.[0] ?? 0;
    const render = (from: number, to?: number) => markdown.renderer.render(tokens.slice(from, to), markdown.options, env);
    if (last < 1 || line === 0) {
      return { isNew, settled: '', open: render(0) };
    }
    this.settledTo += startOf(rest, line);
    return { isNew, settled: render(0, last), open: render(last) };
  }
}

function startOf(text: string, line: number): number {
  let start = 0;
  for (let number = 0; number < line; number += 1) {
    start = text.indexOf('\n', start) + 1;
  }
  return start;
}
