// Markdown that grows: what is finished is rendered once, and only its last block again with each piece. Markup in it is text,
// pictures are links, and nothing is fetched. Knows no document.

import MarkdownIt, { type Token } from 'markdown-it';

const markdown = new MarkdownIt({ html: false }).disable('image');
const { escapeHtml } = markdown.utils;

// A link says where it leads, and has no address that a click would go to.
markdown.renderer.rules['link_open'] = (tokens, index) => {
  const target = escapeHtml(String(tokens[index]?.attrGet('href') ?? ''));
  return `<a role="link" tabindex="0" data-target="${target}" title="${target}">`;
};


export interface Rendered {
  /** Whether what was rendered before does not count any more. */
  readonly isNew: boolean;
  /** HTML of blocks that do not change any more, to be put behind those before. */
  readonly settled: string;
  /** HTML of the last block, in place of the one before. */
  readonly open: string;
}

const DEEPEST_HEADING = 6;

export class GrowingMarkdown {
  private text = '';
  /** Where the block begins that may still change. */
  private settledTo = 0;
  /** As far as whole lines have been searched for blocks that do not change any more. */
  private searchedTo = 0;
  /** Definitions of links in whole lines, for the blocks after them. */
  private known: { references?: object } = {};
  /** How deep the first heading is, `#` being 1. */
  private first: number | undefined;

  /** `level` is that of the heading above the text: the first one in it is the next, and none comes above that. */
  constructor(private readonly level: number) {}

  /** The text is what it was up to `kept`, and goes on with `more`. */
  grow(kept: number, more: string): Rendered {
    const isNew = kept < this.text.length;
    this.text = this.text.slice(0, kept) + more.replaceAll('\r', ' ');
    if (isNew) {
      [this.settledTo, this.searchedTo, this.known, this.first] = [0, 0, {}, undefined];
    }
    const settled = this.settle();
    const env = { references: { ...this.known.references } }; // A definition in half a line is not kept.
    return { isNew, settled, open: this.render(markdown.parse(this.text.slice(this.settledTo), env), env) };
  }

  /** In half a line another block seems to begin which the other half makes a part of the one before. */
  private settle(): string {
    const end = this.text.lastIndexOf('\n') + 1;
    if (end <= this.searchedTo) {
      return '';
    }
    this.searchedTo = end;
    const rest = this.text.slice(this.settledTo, end);
    const tokens = markdown.parse(rest, this.known);
    const last = tokens.findLastIndex((token) => token.level === 0 && token.nesting >= 0);
    const line = tokens[last]?.map?.[0] ?? 0;
    if (last < 1 || line === 0) {
      return '';
    }
    this.settledTo += startOf(rest, line);
    const final = tokens.slice(0, last);
    this.first ??= firstHeading(final);
    return this.render(final, this.known);
  }

  private render(tokens: Token[], env: object): string {
    const first = this.first ?? firstHeading(tokens) ?? 1;
    for (const token of tokens) {
      const depth = /^h(\d)$/.exec(token.tag)?.[1];
      const side = /text-align:(\w+)/.exec(String(token.attrGet('style') ?? ''))?.[1];
      if (depth) {
        token.tag = `h${Math.min(DEEPEST_HEADING, this.level + 1 + Math.max(0, Number(depth) - first))}`;
      }
      if (side) {
        token.attrs = [['class', side]]; // The page takes no style from elsewhere.
      }
    }
    return markdown.renderer.render(tokens, markdown.options, env);
  }
}

function firstHeading(tokens: readonly Token[]): number | undefined {
  const heading = tokens.find(({ type }) => type === 'heading_open');
  return heading && Number(heading.tag.slice(1));
}

function startOf(text: string, line: number): number {
  let start = 0;
  for (let number = 0; number < line; number += 1) {
    start = text.indexOf('\n', start) + 1;
  }
  return start;
}
