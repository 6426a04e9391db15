// What the page of a conversation is made of.

import { marksOf, numbersOf } from '../../../runPage/diffs';
import { element } from '../elements';

const DEEPEST_HEADING = 6;

export function headingOf(level: number, text: string): HTMLElement {
  return element(`h${Math.min(DEEPEST_HEADING, level)}` as 'h2', { class: 'name' }, text);
}

export function folded(kind: string, summary: readonly HTMLElement[], ...body: readonly HTMLElement[]): HTMLDetailsElement {
  const spaced = summary.flatMap((each, index) => [index === 0 ? '' : index === summary.length - 1 ? ' · ' : ' ', each]);
  return element('details', { class: kind }, element('summary', {}, ...spaced), ...body);
}

/** Opens an element and all that it is in. */
export function open(details: HTMLDetailsElement | null | undefined): void {
  for (let each = details; each; each = each.parentElement?.closest('details')) {
    each.open = true;
  }
}

export function button(label: string, act: () => void, spoken = label): HTMLButtonElement {
  const made = element('button', { type: 'button', 'aria-label': spoken }, label);
  made.addEventListener('click', act);
  return made;
}

export function labelled(label: string, content: HTMLElement): HTMLElement {
  return element('div', {}, element('p', { class: 'quiet' }, label), content);
}

export function pre(text: string): HTMLElement {
  return element('pre', { tabindex: '0' }, text);
}

export function diff(text: string): HTMLElement {
  const lines = text.replace(/\n$/, '').split('\n');
  const marks = marksOf(lines);
  const numbers = numbersOf(lines);
  const spans = lines.map((line, at) => element('span', { class: marks[at] ?? '', 'data-at': numbers[at] ?? '' }, line));
  return element('pre', { tabindex: '0', class: 'diff' }, ...spans);
}
