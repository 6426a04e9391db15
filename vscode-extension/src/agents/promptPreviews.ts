// Previews of what would be sent, as documents that follow what is saved: the agent's file, or one that it shows.

import { workspace, type Disposable, type Uri } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Previews } from '../previews';
import type { RunParams } from '../protocol';
import { previewText } from './previewText';
import { PreviewRequest } from './protocol';
import { agentName } from './target';

interface Shown {
  readonly client: LanguageClient;
  readonly file: Uri;
  readonly params: RunParams;
}

export class PromptPreviews implements Disposable {
  /** By the title of the document. */
  private readonly shown = new Map<string, Shown>();
  private readonly listener = workspace.onDidSaveTextDocument(() => void this.refresh());

  constructor(private readonly previews: Previews) {}

  async show(shown: Shown): Promise<void> {
    const title = `Preview of ${agentName(shown.file)}.md`;
    const text = await textOf(shown);
    this.shown.set(title, shown);
    await this.previews.show(title, text);
  }

  dispose(): void {
    this.listener.dispose();
  }

  private async refresh(): Promise<void> {
    for (const [title, shown] of this.shown) {
      if (!this.previews.isOpen(title)) {
        this.shown.delete(title);
        continue;
      }
      // An agent that can't be run for the moment is looked at again when it is mended.
      await textOf(shown).then((text) => this.previews.update(title, text), () => undefined);
    }
  }
}

async function textOf({ client, file, params }: Shown): Promise<string> {
  return previewText(agentName(file), await client.sendRequest(PreviewRequest, params));
}
