// What agents ask, as cards with the answers.

import type { QuestionView } from '../../../runPage/views';
import { timeLeft } from '../../../runs/figures';
import { element } from '../elements';
import { tell } from '../host';
import { button, diff, pre } from './parts';

/** Milliseconds in which a question that has just appeared takes no answer: a click may have been meant for what stood there. */
const TOO_SOON = 700;

const ALL_EDITS = 'Allow All Edits of This Run';

const MODIFIER = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl';

/** A question as it is shown. */
interface Card {
  readonly top: HTMLElement;
  readonly left: HTMLElement;
  /** When it is withdrawn, in milliseconds since 1970. */
  ends: number | undefined;
  /** When it came to where it stands. */
  since: number;
  place: Place;
}

/** Where a card can stand. */
export interface Place {
  put(card: HTMLElement): void;
  /** The card has gone; the focus was in it, or not. */
  clear(hadFocus: boolean): void;
  /** Opens what hides it. */
  open(): void;
}

/** The questions of a page, in the order in which they came. */
export class Questions {
  private readonly cards = new Map<number, Card>();
  private lastShown: number | undefined;

  /** `placeOf` is where a question stands now. */
  constructor(private readonly placeOf: (question: QuestionView) => Place) {}

  /** What a reader has written in one that stays is not touched. */
  draw(all: readonly QuestionView[]): void {
    const open = new Set(all.map(({ key }) => key));
    for (const [key, card] of this.cards) {
      if (!open.has(key)) {
        const hadFocus = card.top.contains(document.activeElement);
        card.top.remove();
        card.place.clear(hadFocus);
        this.cards.delete(key);
      }
    }
    all.forEach((question) => this.drawOne(question));
  }

  /** What is left of the time to answer. */
  tick(): void {
    for (const { left, ends } of this.cards.values()) {
      left.textContent = ends === undefined ? '' : `· ${timeLeft(ends - Date.now())}`;
    }
  }

  /** Brings the next one to the reader. */
  show(): void {
    const keys = [...this.cards.keys()];
    const key = keys[(keys.indexOf(this.lastShown ?? 0) + 1) % keys.length] ?? 0;
    const card = this.cards.get(key);
    this.lastShown = key;
    card?.place.open();
    card?.top.scrollIntoView({ block: 'center' });
    card?.top.focus({ preventScroll: true });
  }

  private drawOne(question: QuestionView): void {
    const place = this.placeOf(question);
    const known = this.cards.get(question.key);
    const card = known ?? this.newCard(question, place);
    const former = known?.place;
    if (former !== place) {
      Object.assign(card, { place, since: Date.now() });
      place.put(card.top);
      former?.clear(false);
    }
    card.ends = question.leftMs === undefined ? undefined : Date.now() + question.leftMs;
    this.tick();
  }

  private newCard(question: QuestionView, place: Place): Card {
    const left = element('span', { class: 'quiet', role: 'timer' });
    const isTooSoon = () => Date.now() - card.since < TOO_SOON;
    const card: Card = { top: drawn(question, left, isTooSoon), left, ends: undefined, since: 0, place };
    this.cards.set(question.key, card);
    return card;
  }
}

function drawn(question: QuestionView, left: HTMLElement, isTooSoon: () => boolean): HTMLElement {
  const { key, message, details } = question;
  const answer = (label: string, choice: string, text?: string) =>
    button(label, () => isTooSoon() || tell({ do: 'answer', key, choice, ...(text === undefined ? {} : { text }) }));
  const buttons = question.kind === 'approval' ? approvalButtons(question, answer) : [element('div', { class: 'buttons' }, ...question.choices.map((each) => answer(each, 'Answer', each)))];
  const top = element('div', { class: 'question', role: 'group', 'aria-label': message, tabindex: '-1' }, element('p', { class: 'message' }, message, ' ', left));
  top.append(details.startsWith('--- ') ? diff(details) : pre(details), ...buttons);
  if (question.kind === 'inquiry') {
    top.append(answerBox(key));
  } else {
    top.addEventListener('keydown', (event) => {
      const choice = choiceOf(event);
      if (choice) {
        event.preventDefault();
        void (isTooSoon() || tell({ do: 'answer', key, choice }));
      }
    });
  }
  return top;
}

/** The two usual answers, and a button that unfolds the others. */
function approvalButtons(question: QuestionView, answer: (label: string, choice: string) => HTMLElement): HTMLElement[] {
  const allow = answer('Allow', 'Allow');
  allow.classList.add('primary');
  const others = element(
    'div',
    { class: 'buttons others' },
    ...(question.hasChange ? [answer('Show Change', 'Show')] : []),
    ...(question.forRun ? [answer(question.forRun, 'Allow the Same for This Run')] : []),
    ...(question.isEdit ? [answer(ALL_EDITS, ALL_EDITS)] : []),
    ...(question.always ? [answer(question.always, 'Always')] : []),
    answer('Deny and Say Why…', 'Deny and Say Why…'),
  );
  others.hidden = true;
  const more = button('⋯', () => {
    others.hidden = !others.hidden;
    more.setAttribute('aria-expanded', String(!others.hidden));
  }, 'More answers');
  more.setAttribute('aria-expanded', 'false');
  const keys = element('span', { class: 'quiet keys' }, `${MODIFIER}+Enter allows, ${MODIFIER}+Backspace denies.`);
  return [element('div', { class: 'buttons' }, allow, answer('Deny', 'Deny'), more, keys), others];
}

/** What a key answers in a card that has the focus: none without a modifier, and none in a field. */
function choiceOf({ key, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): string | undefined {
  const isTyped = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
  return isTyped || altKey || shiftKey || !(ctrlKey || metaKey) ? undefined : { Enter: 'Allow', Backspace: 'Deny' }[key];
}

function answerBox(key: number): HTMLElement {
  const words = element('input', { type: 'text', 'aria-label': 'Answer in your own words' });
  const form = element('form', { class: 'answer' }, words, element('button', { type: 'submit' }, 'Answer'));
  form.append(button('Don\'t Answer', () => tell({ do: 'answer', key, choice: 'Don\'t Answer' })));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (words.value.trim()) {
      tell({ do: 'answer', key, choice: 'Answer', text: words.value });
    }
  });
  return form;
}
