// What an agent asks before it changes something, in the words of a dialog. Knows nothing of VS Code.

import type { Question } from './protocol';

const MOST_LINES = 25;

export interface Dialog {
  readonly message: string;
  readonly detail: string;
  /** The whole change or command, when the dialog has no room for it; with the name of a document. */
  readonly document: { readonly name: string; readonly text: string } | undefined;
  /** What the button says that remembers the answer. */
  readonly always: string;
}

export function dialogOf(question: Question): Dialog {
  const lines = question.details.split('\n');
  const hidden = lines.length - MOST_LINES;
  const shown = hidden > 0 ? [...lines.slice(0, MOST_LINES), `… and ${hidden} more lines in the editor`] : lines;
  return {
    message: `${question.reason}.`,
    detail: shown.join('\n'),
    document: hidden > 0 ? { name: documentName(question), text: question.details } : undefined,
    always: command(question) === undefined ? `Always Allow ${question.tool} Here` : 'Always Allow This Command Here',
  };
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

function documentName(question: Question): string {
  const kind = question.details.startsWith('--- ') ? 'diff' : 'sh';
  return `${question.agent} wants to use ${question.tool}.${kind}`;
}
