// Markdown that grows: what is finished is rendered once, and only its last block again with each piece. A long block of code, a
// long list or a long table is finished in parts, each of which says by its class that another one goes on with it; each part of a
// table has the head. Markup in it is text, pictures are links, and nothing is fetched. Knows no document.

import MarkdownIt, { type Token } from 'markdown-it';

const markdown = new MarkdownIt({ html: false }).disable('image');
const { escapeHtml } = markdown.utils;

markdown.core.ruler.push('places', (state) => {
  for (const { children } of state.tokens) {
    children?.splice(0, children.length, ...withLinks(children, state.Token));
  }
});

type NewToken = new (type: string, tag: string, nesting: -1 | 0 | 1) => Token;

/** A path with a line, such as `src/app.py:12`, `app.py:12:3` or `app.py#L12`. */
const PLACE = /(?<![\w/\\:.@#-])(?:[A-Za-z]:[\\/]|\.{0,2}[\\/])?(?:[\w@.+-]+[\\/])*[\w@+-][\w@.+-]*\.[A-Za-z]\w*(?::\d+(?::\d+)?|#L\d+)(?![\w/])/g;

/** Makes links of the places in files that a text or code in a line names, outside of other links. */
function withLinks(tokens: readonly Token[], Made: NewToken): Token[] {
  let depth = 0;
  return tokens.flatMap((token) => {
    depth += token.type === 'link_open' ? 1 : token.type === 'link_close' ? -1 : 0;
    return depth === 0 && (token.type === 'text' || token.type === 'code_inline') ? linked(token, Made) : [token];
  });
}

function linked(token: Token, Made: NewToken): Token[] {
  const parts: Token[] = [];
  let end = 0;
  const add = (content: string) => content && parts.push(Object.assign(new Made(token.type, token.tag, 0), { content, markup: token.markup }));
  for (const { 0: place, index } of token.content.matchAll(PLACE)) {
    if (token.type === 'code_inline' && place !== token.content) {
      break; // Code is one piece.
    }
    add(token.content.slice(end, index));
    const open = new Made('link_open', 'a', 1);
    open.attrs = [['href', place]];
    parts.push(open);
    add(place);
    parts.push(new Made('link_close', 'a', -1));
    end = index + place.length;
  }
  add(token.content.slice(end));
  return end === 0 ? [token] : parts;
}

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

/** Lines of code, items of a list, and rows of a table, with which a part is finished while the block goes on. */
const PART = 200;

/** The classes of parts. */
const BEGUN = 'goes-on';
const CONTINUED = 'continued';

/** What the rest of a block of which parts are finished needs to be read as one. */
interface Continued {
  /** The line that opened a block of code, or the head of a table. */
  readonly opening: string;
  /** The number of the next item in a list that counts. */
  readonly next: number | undefined;
}

export class GrowingMarkdown {
  private text = '';
  /** Where the block begins that may still change. */
  private settledTo = 0;
  /** As far as whole lines have been searched for blocks that do not change any more. */
  private searchedTo = 0;
  /** As far as they have been searched for parts of a long block. */
  private partedTo = 0;
  /** Definitions of links in whole lines, for the blocks after them. */
  private known: { references?: object } = {};
  /** How deep the first heading is, `#` being 1. */
  private first: number | undefined;
  /** About the block that may still change, if it is the rest of one. */
  private continued: Continued | undefined;

  /** `level` is that of the heading above the text: the first one in it is the next, and none comes above that. */
  constructor(private readonly level: number) {}

  /** The text is what it was up to `kept`, and goes on with `more`. */
  grow(kept: number, more: string): Rendered {
    const isNew = kept < this.text.length;
    this.text = this.text.slice(0, kept) + more.replaceAll('\r', ' ');
    if (isNew) {
      [this.settledTo, this.searchedTo, this.partedTo, this.known, this.first, this.continued] = [0, 0, 0, {}, undefined, undefined];
    }
    const settled = this.settle() + this.settlePart();
    const env = { references: { ...this.known.references } }; // A definition in half a line is not kept.
    return { isNew, settled, open: this.render(this.parse(this.text.slice(this.settledTo), env), env) };
  }

  /** A text that begins where the last block does. */
  private parse(rest: string, env: object): Token[] {
    const { opening = '', next } = this.continued ?? {};
    const tokens = markdown.parse(opening + rest, env);
    const [block] = tokens;
    if (this.continued && block) {
      block.attrJoin('class', CONTINUED);
      if (next !== undefined) {
        block.attrSet('start', String(next));
      }
    }
    return opening && block?.type === 'fence' && block.content === '' ? tokens.slice(1) : tokens; // The line that closes the code is left.
  }

  /** In half a line another block seems to begin which the other half makes a part of the one before. */
  private settle(): string {
    const end = this.text.lastIndexOf('\n') + 1;
    if (end <= this.searchedTo) {
      return '';
    }
    this.searchedTo = end;
    const rest = this.text.slice(this.settledTo, end);
    const tokens = this.parse(rest, this.known);
    const last = tokens.findLastIndex((token) => token.level === 0 && token.nesting >= 0);
    const line = (tokens[last]?.map?.[0] ?? 0) - this.opened;
    if (line <= 0) {
      return '';
    }
    this.settledTo += startOf(rest, line);
    this.continued = undefined;
    const final = tokens.slice(0, last);
    this.first ??= firstHeading(final);
    return this.render(final, this.known);
  }

  /** The lines that `parse` puts before the rest. */
  private get opened(): number {
    return (this.continued?.opening.split('\n').length ?? 1) - 1;
  }

  /** The whole lines of a long block of code, or all items but the last one of a long list, or all rows but that of a table. */
  private settlePart(): string {
    const rest = this.text.slice(this.settledTo, this.searchedTo);
    if (this.partedTo === this.searchedTo || !hasLines(rest, PART)) {
      return ''; // In half a line nothing more is finished.
    }
    this.partedTo = this.searchedTo;
    const tokens = this.parse(rest, { references: { ...this.known.references } });
    const [block] = tokens;
    const last = tokens.findLastIndex(({ type, level }) => type === 'list_item_open' && level === 1);
    const items = tokens.slice(0, last).filter(({ type, level }) => type === 'list_item_open' && level === 1).length;
    if (block?.type === 'fence') {
      const lines = block.content.split('\n').length - 1;
      const start = this.continued ? 0 : startOf(rest, 1);
      const end = start + startOf(rest.slice(start), lines);
      if (lines < PART || end < rest.length) {
        return ''; // What is closed does not grow.
      }
      this.continued ??= { opening: rest.slice(0, start), next: undefined };
      this.settledTo += end;
    } else if (block?.type === 'table_open') {
      const row = tokens.findLastIndex(({ type }) => type === 'tr_open');
      const line = (tokens[row]?.map?.[0] ?? 0) - this.opened;
      if (line < PART || tokens.at(-1)?.type !== 'table_close') {
        return '';
      }
      this.continued ??= { opening: rest.slice(0, startOf(rest, 2)), next: undefined };
      this.settledTo += startOf(rest, line);
      tokens.splice(row, tokens.length - row - 2); // All but the ends of the body and the table.
    } else if (block && items >= PART) {
      const line = tokens[last]?.map?.[0] ?? 0;
      const first = block.type === 'ordered_list_open' ? Number(block.attrGet('start') ?? 1) : undefined;
      this.continued = { opening: '', next: first === undefined ? undefined : first + items };
      this.settledTo += startOf(rest, line);
      tokens.splice(last, tokens.length - last - 1); // All but the end of the list.
    } else {
      return '';
    }
    block.attrJoin('class', BEGUN);
    return this.render(tokens, this.known);
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
    tokens.forEach(({ type }, at) => type === 'list_item_open' && tick(tokens[at + 2]));
    return markdown.renderer.render(tokens, markdown.options, env);
  }
}

/** The box of a task at the beginning of an item: `[x]` or `[ ]`. */
const BOX = /^\[(?<mark>[ xX])\](?=\s)/;

/** Draws the box of a task that a list item begins with. */
function tick(item: Token | undefined): void {
  const text = item?.type === 'inline' ? item.children?.[0] : undefined;
  if (text?.type === 'text') {
    text.content = text.content.replace(BOX, (_, mark: string) => (mark === ' ' ? '☐' : '☑'));
  }
}

function firstHeading(tokens: readonly Token[]): number | undefined {
  const heading = tokens.find(({ type }) => type === 'heading_open');
  return heading && Number(heading.tag.slice(1));
}

function hasLines(text: string, most: number): boolean {
  let end = -1;
  for (let number = 0; number < most; number += 1) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) {
      return false;
    }
  }
  return true;
}

function startOf(text: string, line: number): number {
  let start = 0;
  for (let number = 0; number < line; number += 1) {
    start = text.indexOf('\n', start) + 1;
  }
  return start;
}
