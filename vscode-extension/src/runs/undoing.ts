// Undo of the file changes of a run, of some of its turns, or of a file: asked about first, and only what was named is put back.

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

/** What an undo would do. */
export interface UndoPlan {
  /** The files that are put back. */
  readonly files: readonly ChangedFile[];
  /** How many they are, or the name of one. */
  readonly what: string;
  /** Their names, if they are several. */
  readonly names: readonly string[];
  /** What stays, a sentence each. */
  readonly remarks: readonly string[];
}

export class Undoing {
  constructor(
    private readonly edits: Edits,
    private readonly reviews: Reviews,
  ) {}

  async undo(client: LanguageClient, edited: Edited): Promise<void> {
    const plan = await this.plan(client, edited);
    const whose = whoseInWords(edited);
    if (plan.files.length === 0) {
      void showInformation(sentences([`There is nothing to undo in ${whose}.`, ...plan.remarks]));
      return;
    }
    const detail = [...plan.names, ...plan.remarks].join('\n');
    const chosen = await askWithWarning(`Put back ${plan.what} as before ${whose}?`, { detail }, PUT_BACK, REVIEW);
    if (chosen === REVIEW) {
      await this.reviews.show(edited); // Its title has the button to undo.
    } else if (chosen === PUT_BACK) {
      await this.putBack(client, edited, plan);
    }
  }

  /** Returns what an undo would do; nothing is changed. */
  async plan(client: LanguageClient, edited: Edited): Promise<UndoPlan> {
    const { file } = edited;
    const answer = await client.sendRequest(UndoRequest, of(edited));
    const all = answer.files.filter(({ path }) => file === undefined || path === file);
    const files = all.filter(({ digest }) => digest !== undefined);
    const what = files.length === 1 ? basename(files[0]?.path ?? '') : count(files.length, 'file');
    const remarks = [...all.flatMap(leftInWords), ...(answer.hasCommands ? ['The effects of commands stay.'] : [])];
    return { files, what, names: files.length > 1 ? named(files) : [], remarks };
  }

  /** Puts back what a person has agreed to, and says what has become of it. Returns whether no file was left. */
  async putBack(client: LanguageClient, edited: Edited, { files }: UndoPlan): Promise<boolean> {
    const agreed = files.map(({ path, digest = '' }) => ({ path, digest }));
    const { undone, left } = await client.sendRequest(UndoRequest, { ...of(edited), agreed });
    const outcome = [`${count(undone.length, 'file')} put back.`, ...left.flatMap(leftInWords)];
    void (left.length > 0 ? showWarning : showInformation)(sentences(outcome));
    this.edits.look(rootOf(edited.run));
    return left.length === 0;
  }
}

function whoseInWords({ run, turn, fromTurn }: Edited): string {
  const turns = fromTurn ?? turn;
  return turns === undefined ? `this run of ${run.agent}` : `turn ${turns} of ${run.agent}`;
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
