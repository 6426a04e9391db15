// What agents ask, as cards with the answers.

import type { QuestionView } from '../../../runPage/views';
import { element } from '../elements';
import { tell } from '../host';
import { button, diff, pre } from './parts';

/** Milliseconds in which a question that has just appeared takes no answer: a click may have been meant for what stood there. */
const TOO_SOON = 700;

const asked = new Map<number, HTMLElement>();

/** Draws the questions that are open. What a reader has written in one that stays is not touched. */
export function drawQuestions(questions: HTMLElement, all: readonly QuestionView[]): void {
  const open = new Set(all.map(({ key }) => key));
  for (const [key, card] of asked) {
    if (!open.has(key)) {
      card.remove();
      asked.delete(key);
    }
  }
  for (const question of all) {
    if (!asked.has(question.key)) {
      const card = cardOf(question);
      asked.set(question.key, card);
      questions.append(card);
    }
  }
}

function cardOf(question: QuestionView): HTMLElement {
  const { key, message, details } = question;
  const since = Date.now();
  const answer = (label: string, choice: string, text?: string) =>
    button(label, () => Date.now() - since > TOO_SOON && tell({ do: 'answer', key, choice, ...(text === undefined ? {} : { text }) }));
  const buttons = question.kind === 'approval' ? approvalButtons(question, answer) : question.choices.map((each) => answer(each, 'Answer', each));
  const card = element('div', { class: 'question', role: 'group', 'aria-label': message }, element('p', { class: 'message' }, message));
  card.append(details.startsWith('--- ') ? diff(details) : pre(details), element('div', { class: 'buttons' }, ...buttons));
  if (question.kind === 'inquiry') {
    card.append(answerBox(key));
  }
  return card;
}

function approvalButtons(question: QuestionView, answer: (label: string, choice: string) => HTMLElement): HTMLElement[] {
  return [
    ...(question.hasChange ? [answer('Show Change', 'Show')] : []),
    answer('Allow', 'Allow'),
    ...(question.forRun ? [answer(question.forRun, 'Allow the Same for This Run')] : []),
    ...(question.always ? [answer(question.always, 'Always')] : []),
    answer('Deny', 'Deny'),
    answer('Deny and Say Why…', 'Deny and Say Why…'),
  ];
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
