// Texts of the server (what would be sent, what happened in a run) as documents that can't be edited and ask nothing
// when they are closed.

import { EventEmitter, Uri, window, type Disposable, type TextDocumentContentProvider } from 'vscode';

export const PREVIEW_SCHEME = 'axe-preview';

export class Previews implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.path) ?? '';
  }

  async show(title: string, text: string): Promise<void> {
    const uri = Uri.from({ scheme: PREVIEW_SCHEME, path: title });
    this.texts.set(uri.path, text);
    this.changed.fire(uri);
    await window.showTextDocument(uri, { preview: true });
  }

  dispose(): void {
    this.changed.dispose();
  }
}
