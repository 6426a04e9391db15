// Undo of the file changes of a run, of a turn, or of a file: asked about first, and only what was named is put back.

import { basename } from 'node:path';
import { workspace } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { askWithWarning, showInformation, showWarning } from '../messages';
import { UndoRequest, type ChangedFile } from '../protocol';
import { count } from './figures';
import type { Edits } from './edits';
import { rootOf } from './nodes';
import { of, type Edited, type Reviews } from './reviews';

const PUT_BACK = 'Put Back';
const REVIEW = 'Review';

/** Files that the question names. */
const MOST_NAMED = 12;

export class Undoing {
  constructor(
    private readonly edits: Edits,
    private readonly reviews: Reviews,
  ) {}

  async undo(client: LanguageClient, edited: Edited): Promise<void> {
    const { run, turn, file } = edited;
    const found = await client.sendRequest(UndoRequest, of(edited));
    const files = found.files.filter(({ path }) => file === undefined || path === file);
    const wanted = files.filter(({ digest }) => digest !== undefined);
    const remarks = [...files.flatMap(leftInWords), ...(found.hasCommands ? ['The effects of commands stay.'] : [])];
    const whose = turn === undefined ? `this run of ${run.agent}` : `turn ${turn} of ${run.agent}`;
    if (wanted.length === 0) {
      void showInformation(sentences([`There is nothing to undo in ${whose}.`, ...remarks]));
      return;
    }
    const what = wanted.length === 1 ? basename(wanted[0]?.path ?? '') : count(wanted.length, 'file');
    const detail = [...(wanted.length > 1 ? named(wanted) : []), ...remarks].join('\n');
    const chosen = await askWithWarning(`Put back ${what} as before ${whose}?`, { detail }, PUT_BACK, REVIEW);
    if (chosen === REVIEW) {
      await this.reviews.show(edited); // Its title has the button to undo.
    } else if (chosen === PUT_BACK) {
      const agreed = wanted.map(({ path, digest = '' }) => ({ path, digest }));
      const { undone, left } = await client.sendRequest(UndoRequest, { ...of(edited), agreed });
      const outcome = [`${count(undone.length, 'file')} put back.`, ...left.flatMap(leftInWords)];
      void (left.length > 0 ? showWarning : showInformation)(sentences(outcome));
      this.edits.look(rootOf(run));
    }
  }
}

function named(files: readonly ChangedFile[]): string[] {
  const names = files.slice(0, MOST_NAMED).map(({ path }) => workspace.asRelativePath(path));
  return files.length > MOST_NAMED ? [...names, `and ${count(files.length - MOST_NAMED, 'more file')}`] : names;
}

function leftInWords({ path, reason }: Pick<ChangedFile, 'path' | 'reason'>): string[] {
  return reason ? [`${basename(path)} is left: ${reason}.`] : [];
}

/** A message of VS Code is one paragraph. */
function sentences(parts: readonly string[]): string {
  return parts.join(' ');
}
