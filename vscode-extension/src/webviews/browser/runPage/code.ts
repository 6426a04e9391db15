// Blocks of code in the texts of models: colours, as soon as they come into sight, and a button that copies.

import { piecesOf } from '../../../runPage/highlighting';
import { element } from '../elements';
import { tell } from '../host';
import { button } from './parts';

/** Milliseconds in which a button says that it has copied. */
const TOLD = 1500;

/** Pixels around what is in sight. */
const NEAR = '300px';

const observer = new IntersectionObserver(
  (entries) =>
    entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => {
      observer.unobserve(target);
      highlight(target as HTMLElement);
    }),
  { rootMargin: NEAR },
);

/** Gives colours to the blocks of code in `text` when they come into sight. */
export function watchCode(text: ParentNode): void {
  text.querySelectorAll<HTMLElement>('pre > code[class*="language-"]').forEach((code) => observer.observe(code));
}

/** Puts a button that copies it beside each block of code in `text`; parts of one block have one button. */
export function addCopyButtons(text: ParentNode): void {
  for (const block of text.querySelectorAll<HTMLElement>('pre')) {
    const frame = element('div', { class: 'code' });
    block.replaceWith(frame);
    frame.append(block, ...(block.querySelector('.continued') ? [] : [copyButton(block)]));
  }
}

function copyButton(block: HTMLElement): HTMLButtonElement {
  const copy = button('Copy', () => {
    tell({ do: 'copyCode', text: textOf(block) });
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), TOLD);
  }, 'Copy code');
  return copy;
}

/** The text of a block with the parts that go on with it. */
function textOf(block: HTMLElement): string {
  const blocks = [...(block.closest('.text')?.querySelectorAll('pre > code') ?? [])];
  const first = blocks.findIndex((code) => block.contains(code));
  const end = blocks.findIndex((code, at) => at > first && !code.classList.contains('continued'));
  return blocks.slice(first, end < 0 ? undefined : end).map((code) => code.textContent).join('');
}

function highlight(code: HTMLElement): void {
  const language = /language-(\S+)/.exec(code.className)?.[1] ?? '';
  const pieces = piecesOf(code.textContent ?? '', language);
  if (pieces.length > 0) {
    code.replaceChildren(...pieces.map(({ text, kind }) => (kind ? element('span', { class: `code-${kind.split('.')[0]}` }, text) : text)));
  }
}
