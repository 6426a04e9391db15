// Asks the user before an agent changes something: one dialog at a time, remembered where they want that.

import { window, type Memento } from 'vscode';
import type { CancellationToken, LanguageClient, StaticFeature } from 'vscode-languageclient/node';
import type { Previews } from './previews';
import { ApproveRequest, type Approval, type Question } from './protocol';
import { dialogOf, subjectOf, type Dialog } from './questions';

const REMEMBERED = 'approvals';
const DENIED: Approval = { decision: 'deny' };

export class Approvals {
  private lastDialog: Promise<unknown> = Promise.resolve();

  /** `memory` is the workspace's: what is always allowed in it is nobody else's business. */
  constructor(
    private readonly memory: Memento,
    private readonly previews: Previews,
  ) {}

  listenTo(client: LanguageClient): void {
    client.registerFeature(announcement);
    client.onRequest(ApproveRequest, (question, token) => this.approve(question, token));
  }

  /** Ask again, also about what was always allowed in this workspace. */
  async forget(): Promise<void> {
    await this.memory.update(REMEMBERED, undefined);
    void window.showInformationMessage('Agents ask again before they change anything in this workspace.');
  }

  private approve(question: Question, token: CancellationToken): Promise<Approval> {
    const answer = this.lastDialog.then(() => this.ask(question, token));
    this.lastDialog = answer.catch(() => undefined);
    return answer;
  }

  private async ask(question: Question, token: CancellationToken): Promise<Approval> {
    if (token.isCancellationRequested) {
      return DENIED; // Nobody waits for it any more.
    }
    if (this.remembered().includes(subjectOf(question))) {
      return { decision: 'allow' };
    }
    const dialog = dialogOf(question);
    const close = await this.showBehind(question, dialog);
    try {
      return await this.decide(question, dialog);
    } finally {
      await close?.();
    }
  }

  /** A file that changes in a diff editor; anything else that the dialog has no room for as a document. */
  private async showBehind({ agent, change }: Question, { document }: Dialog): Promise<(() => Thenable<unknown>) | undefined> {
    if (change) {
      return this.previews.showChangeBriefly(`${agent} wants to change ${change.path}`, change.before, change.after);
    }
    return document && this.previews.showBriefly(document.name, document.text);
  }

  private async decide(question: Question, { message, detail, always }: Dialog): Promise<Approval> {
    const once = 'Allow';
    const forRun = 'Allow for This Run';
    const instead = 'Deny and Say Why…';
    switch (await window.showWarningMessage(message, { modal: true, detail }, once, forRun, always, instead)) {
      case once:
        return { decision: 'allow' };
      case forRun:
        return { decision: 'allowForRun' };
      case always:
        await this.memory.update(REMEMBERED, [...this.remembered(), subjectOf(question)]);
        return { decision: 'allow' };
      case instead:
        return denial(await window.showInputBox({ title: question.reason, prompt: 'What to do instead' }));
      default:
        return DENIED;
    }
  }

  private remembered(): readonly string[] {
    return this.memory.get<string[]>(REMEMBERED, []);
  }
}

function denial(note: string | undefined): Approval {
  return note ? { ...DENIED, note } : DENIED;
}

const announcement: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    const { axe, ...others } = (capabilities.experimental ?? {}) as { axe?: object };
    capabilities.experimental = { ...others, axe: { ...axe, approve: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};
