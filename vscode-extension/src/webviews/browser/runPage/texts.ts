// The texts of models, which grow: drawn as Markdown at most once a frame.

import { GrowingMarkdown } from '../../../runPage/markdown';
import type { Growing } from '../../../runPage/views';
import { element } from '../elements';
import { drawing } from '../frames';
import { addCopyButtons, watchCode } from './code';

/** Milliseconds without a piece after which a block that may grow gets its colours. */
const REST = 300;

/** Texts that have grown since they were drawn. */
const grown = new Set<Growth>();
let onDrawn = (): void => undefined;
const askForTexts = drawing(() => {
  grown.forEach((text) => text.draw());
  grown.clear();
  onDrawn();
});

/** Calls `act` whenever texts were drawn. */
export function afterTexts(act: () => void): void {
  onDrawn = act;
}

/** A text of a model. */
export class Growth {
  readonly top = element('div', { class: 'text' });
  private readonly open = element('div', {});
  private readonly settled = element('div', {});
  private readonly markdown: GrowingMarkdown;
  private now = '';
  /** What is drawn of it. */
  private drawn = 0;
  private resting: ReturnType<typeof setTimeout> | undefined;
  isEmpty = true;

  /** `level` is that of the heading above. */
  constructor(level: number) {
    this.markdown = new GrowingMarkdown(level);
    this.top.append(this.settled, this.open);
  }

  grow({ kept, more }: Growing): void {
    if (kept === this.now.length && more === '') {
      return;
    }
    this.now = this.now.slice(0, kept) + more;
    this.drawn = Math.min(this.drawn, kept);
    this.isEmpty = this.now === '';
    grown.add(this);
    askForTexts();
  }

  draw(): void {
    const { isNew, settled, open } = this.markdown.grow(this.drawn, this.now.slice(this.drawn));
    this.drawn = this.now.length;
    if (isNew) {
      this.settled.replaceChildren();
    }
    const finished = fragment(settled);
    watchCode(finished);
    this.settled.append(finished);
    this.open.replaceChildren(fragment(open));
    clearTimeout(this.resting);
    this.resting = setTimeout(() => watchCode(this.open), REST);
  }
}

/** HTML of the Markdown renderer, which lets no markup of the text through. */
function fragment(html: string): DocumentFragment {
  const template = element('template', {});
  template.innerHTML = html;
  for (const block of template.content.querySelectorAll<HTMLElement>('pre, table')) {
    block.tabIndex = 0; // It may have to be scrolled by the keyboard.
  }
  addCopyButtons(template.content);
  return template.content;
}
