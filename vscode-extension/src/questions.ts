// What an agent asks before it changes something, or what its model wants to know, in words. Knows nothing of VS Code.

import type { Change, Inquiry, Question } from './protocol';

/** Characters of what is asked, and of a command behind it, in a message. VS Code cuts messages at 1,000. */
const MOST_CHARACTERS = 300;

/** Characters of a line that are to be seen in a document which stands beside another one. */
const WIDE = 100;

/** What is asked, in a sentence: with the whole command or question if there is room for it. */
export function messageOf(question: Question | Inquiry): string {
  if (isInquiry(question)) {
    return fitsMessage(question) ? `${question.reason}: ${question.question}` : `${question.reason}: read the document.`;
  }
  if (!hasShortReason(question)) {
    return `agent "${question.agent}" wants to use ${question.tool}: read in the document what for.${hint(question)}`;
  }
  return fitsMessage(question) ? `${question.reason}: ${question.details}` : `${question.reason}.${hint(question)}`;
}

/** What lies beyond the right edge of a document would be missed. */
function hint(question: Question): string {
  const longest = Math.max(...documentText(question).split('\n').map((line) => line.length));
  return longest > WIDE ? ` One line of it has ${longest.toLocaleString('en')} characters.` : '';
}

function isInquiry(question: Question | Inquiry): question is Inquiry {
  return 'question' in question;
}

function hasShortReason({ reason }: Question): boolean {
  return reason.length <= MOST_CHARACTERS;
}

/** All of what is asked. */
export function documentText(question: Question | Inquiry): string {
  if (isInquiry(question)) {
    return question.question;
  }
  const details = question.details || `${question.tool} ${JSON.stringify(question.arguments, undefined, 2)}`;
  return hasShortReason(question) ? details : `${question.reason}\n\n${details}`;
}

/** The change for an editor of differences, whose title has to name the file. */
export function changeOf(question: Question): Change | undefined {
  return hasShortReason(question) ? question.change : undefined;
}

/** The same for a row that begins with the agent's name. It names the MCP server whose question it is. */
export function purposeOf(question: Question | Inquiry): string {
  return isInquiry(question) ? `${question.reason.replace(/^agent ".*" (?=asks$)/, '')}: ${question.question}` : messageOf(question).replace(/^.*? (?=wants to )/, '');
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
export function fitsMessage(question: Question | Inquiry): boolean {
  if (isInquiry(question)) {
    return question.question.length <= MOST_CHARACTERS && !question.question.includes('\n');
  }
  const { details, change } = question;
  return !change && hasShortReason(question) && details !== '' && details.length <= MOST_CHARACTERS && !details.includes('\n');
}

export function documentName(question: Question | Inquiry): string {
  if (isInquiry(question)) {
    return `${question.agent} asks.txt`;
  }
  const kind = question.details.startsWith('--- ') ? 'diff' : 'sh';
  return `${question.agent} wants to use ${question.tool}.${kind}`;
}

/** The label of the answer that is for the run: "Allow This Command for This Run". */
export function forRunLabel({ forRun }: Question): string {
  return forRun ? `Allow ${title(forRun)} for This Run` : 'Allow for This Run';
}

/** The answer that is remembered for the workspace: its label, and what exactly it allows. Trust is remembered by the server. */
export function alwaysOf(question: Question): { label: string; detail: string } | undefined {
  const { tool, forRun } = question;
  if (subjectOf(question) === undefined || !forRun) {
    return undefined;
  }
  const what = forRun === 'this file' ? 'this file with any content' : `exactly ${forRun}`;
  return { label: `Always Allow ${title(forRun)} Here`, detail: `${tool}, ${what}, by any agent in this workspace` };
}

/** Whether it is about a change of a file, which is no protected place, by a tool of ours. */
export function isEdit({ subject, forRun }: Question): boolean {
  return subject !== undefined && forRun === 'this file';
}

function title(words: string): string {
  return words.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** What "always" is about: a command in a folder, a tool with a file, a call with its arguments. */
export function subjectOf({ tool, subject }: Question): string | undefined {
  return subject === undefined ? undefined : `${tool}: ${subject}`;
}
