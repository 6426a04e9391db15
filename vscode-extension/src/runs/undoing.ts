// Undo of the file changes of a run: they are shown as differences first, and only what was shown is put back.

import { basename } from 'node:path';
import type { LanguageClient } from 'vscode-languageclient/node';
import { showInformation, showWarning } from '../messages';
import type { Previews } from '../previews';
import { UndoRequest, type ChangedFile } from '../protocol';
import { count } from './figures';
import type { RunNode } from './nodes';

const PUT_BACK = 'Put Back';

export class Undoing {
  constructor(private readonly previews: Previews) {}

  async undo(client: LanguageClient, run: RunNode): Promise<void> {
    const runId = run.rootRunId;
    const { files, hasCommands } = await client.sendRequest(UndoRequest, { runId });
    const wanted = files.filter(({ digest }) => digest !== undefined);
    const shown = wanted.filter(({ before, after }) => before !== undefined && after !== undefined);
    const hidden = wanted.filter((file) => !shown.includes(file)).map(({ path }) => `${basename(path)} is too large to be shown.`);
    const remarks = [...hidden, ...files.flatMap(leftInWords), ...(hasCommands ? ['The effects of commands stay.'] : [])];
    if (wanted.length === 0) {
      void showInformation(sentences([`There is nothing to undo in this run of ${run.agent}.`, ...remarks]));
      return;
    }
    const changes = shown.map(({ path, before, after }) => ({ path, before: before ?? '', after: after ?? '' }));
    if (changes.length > 0) {
      await this.previews.showChanges(`Undo ${run.agent}`, changes);
    }
    const question = `Put back ${count(wanted.length, 'file')} as before this run of ${run.agent}?`;
    if ((await showInformation(sentences([question, ...remarks]), PUT_BACK)) !== PUT_BACK) {
      return;
    }
    const agreed = wanted.map(({ path, digest = '' }) => ({ path, digest }));
    const { undone, left } = await client.sendRequest(UndoRequest, { runId, agreed });
    const outcome = [`${count(undone.length, 'file')} put back.`, ...left.flatMap(leftInWords)];
    void (left.length > 0 ? showWarning : showInformation)(sentences(outcome));
  }
}

function leftInWords({ path, reason }: Pick<ChangedFile, 'path' | 'reason'>): string[] {
  return reason ? [`${basename(path)} is left: ${reason}.`] : [];
}

/** A message of VS Code is one paragraph. */
function sentences(parts: readonly string[]): string {
  return parts.join(' ');
}
