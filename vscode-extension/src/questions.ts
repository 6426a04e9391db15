// What an agent asks before it changes something, in words. Knows nothing of VS Code.

import type { Question } from './protocol';

/** Characters of a command that a message shows; it has a few lines. */
const MOST_CHARACTERS = 300;

/** What is asked, in a sentence: with the whole command if there is room for it. */
export function messageOf(question: Question): string {
  return question.details && fitsMessage(question) ? `${question.reason}: ${question.details}` : `${question.reason}.`;
}

/** The same for a row that begins with the agent's name. */
export function purposeOf(question: Question): string {
  return messageOf(question).replace(/^.*? (?=wants to )/, '');
}

/** A message of VS Code takes `[text](command:…)` for a link that executes the command; an agent could write one. */
export function withoutLinks(text: string): string {
  return text.replaceAll('](', ']\u200b(');
}

/** Lists of VS Code take `$(name)` for an icon, and would hide a part of a command. */
export function withoutIcons(text: string): string {
  return text.replaceAll('$(', '\\$(');
}

/** Whether a message says all of it. Else there has to be a document. */
export function fitsMessage({ details, change }: Question): boolean {
  return !change && details.length <= MOST_CHARACTERS && !details.includes('\n');
}

export function documentName(question: Question): string {
  const kind = question.details.startsWith('--- ') ? 'diff' : 'sh';
  return `${question.agent} wants to use ${question.tool}.${kind}`;
}

/** The label of the answer that is for the run: "Allow This Command for This Run". */
export function forRunLabel({ forRun }: Question): string {
  const what = forRun?.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  return what ? `Allow ${what} for This Run` : 'Allow for This Run';
}

/** The label of the answer that is remembered for the workspace. */
export function alwaysLabel(question: Question): string {
  return command(question) === undefined ? `Always Allow ${question.tool} Here` : 'Always Allow This Command Here';
}

/** What "always" is about: one command, or all calls of another tool. */
export function subjectOf(question: Question): string {
  const given = command(question);
  return given === undefined ? question.tool : `${question.tool}: ${given}`;
}

function command(question: Question): string | undefined {
  const given = question.arguments['command'];
  return question.tool === 'run_command' && typeof given === 'string' ? given : undefined;
}
