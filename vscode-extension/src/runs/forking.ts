// What a fork is to take from before a turn: the conversation, the files, or both. Files are put back in the folder that the former
// run has worked in, so their differences are shown, and asked about, first.

import { window, type QuickPickItem } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { RunNode } from './nodes';
import type { Edited, Reviews } from './reviews';
import type { Undoing, UndoPlan } from './undoing';

interface Choice extends QuickPickItem {
  readonly hasConversation: boolean;
  readonly hasFiles: boolean;
}

export class Forking {
  constructor(
    private readonly undoing: Undoing,
    private readonly reviews: Reviews,
  ) {}

  /**
   * Asks what is wanted, if the turns that the fork leaves out have changed files that can be put back, and puts them back. Returns
   * whether there is to be a new run; none if the user gives up, or a file could not be put back.
   */
  async prepare(client: LanguageClient, run: RunNode, turn: number): Promise<boolean> {
    const edited: Edited = { run, fromTurn: turn };
    const plan = await this.undoing.plan(client, edited);
    if (plan.files.length === 0) {
      return true; // A fork leaves files as they are.
    }
    const choice = await window.showQuickPick(choices(plan, turn), { title: `Fork ${run.agent} at turn ${turn}`, placeHolder: 'What is to be as before that turn?' });
    if (!choice?.hasFiles) {
      return choice?.hasConversation ?? false;
    }
    await this.reviews.show(edited);
    return (await agrees(plan, run, turn)) && (await this.undoing.putBack(client, edited, plan)) && choice.hasConversation;
  }
}

function choices({ what, remarks }: UndoPlan, turn: number): Choice[] {
  const detail = [`Puts back ${what} as before turn ${turn}; shows the differences first.`, ...remarks].join(' ');
  return [
    { label: 'Conversation', detail: `A new run shares the turns before turn ${turn}. Files stay as they are.`, hasConversation: true, hasFiles: false },
    { label: 'Conversation and Files', detail, hasConversation: true, hasFiles: true },
    { label: 'Files', detail: `${detail} No new run.`, hasConversation: false, hasFiles: true },
  ];
}

/** Stays while the user scrolls through the differences behind it. */
async function agrees({ what, names, remarks }: UndoPlan, { agent }: RunNode, turn: number): Promise<boolean> {
  const putBack = { label: 'Put Back', description: names.join(', '), detail: ['The fork and the former run work in the same folder.', ...remarks].join(' ') };
  const title = `Put back ${what} as before turn ${turn} of ${agent}?`;
  const placeHolder = 'The editor shows on the left what is put back, on the right what the run has left.';
  return (await window.showQuickPick([putBack, { label: 'Cancel' }], { title, placeHolder, ignoreFocusOut: true })) === putBack;
}
