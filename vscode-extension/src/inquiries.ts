// Lets the user answer what a model wants to know. A place to write opens only when the user asks for it, so that no answer is
// taken from what is typed elsewhere.

import { window, type QuickPickItem } from 'vscode';
import { cancelledWith } from './cancelling';
import { showInformation } from './messages';
import type { OpenInquiry } from './openQuestions';
import { messageOf, withoutIcons } from './questions';

export const ANSWER = 'Answer…';
export const NO_ANSWER = 'Don\'t Answer';
export const SHOW = 'Show';

const OTHER = 'Answer in Other Words…';

/** The button of a message that was pressed, if any. */
export function showInquiry({ question }: OpenInquiry): Thenable<string | undefined> {
  return showInformation(messageOf(question), SHOW, ANSWER, NO_ANSWER);
}

/** Lets the user choose an answer or write one. Whoever closes that has not answered yet. */
export async function answerInquiry(asked: OpenInquiry): Promise<void> {
  const answer = asked.question.choices ? await choose(asked, asked.question.choices) : await write(asked);
  if (answer?.trim()) {
    asked.settle({ answer });
  }
}

async function choose(asked: OpenInquiry, choices: readonly string[]): Promise<string | undefined> {
  const items: (QuickPickItem & { answer?: string })[] = choices.map((answer) => ({ answer, label: withoutIcons(answer) }));
  const options = { title: asked.question.reason, placeHolder: asked.question.question, ignoreFocusOut: true };
  const chosen = await cancelledWith(asked.answer, (token) => window.showQuickPick([...items, { label: OTHER }], options, token));
  return chosen && chosen.answer === undefined ? write(asked) : chosen?.answer;
}

function write(asked: OpenInquiry): Thenable<string | undefined> {
  const box = { title: asked.question.reason, prompt: asked.question.question, ignoreFocusOut: true };
  return cancelledWith(asked.answer, (token) => window.showInputBox(box, token));
}
