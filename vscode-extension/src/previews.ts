// Texts of the server (what would be sent, what happened in a run) as documents that can't be edited and ask nothing
// when they are closed.

import { commands, EventEmitter, TabInputText, TabInputTextDiff, Uri, ViewColumn, window, type Disposable, type Tab, type TextDocumentContentProvider, type TextDocumentShowOptions } from 'vscode';
import type { Change } from './protocol';

export const PREVIEW_SCHEME = 'axe-preview';

export class Previews implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? 'The window was reloaded; this content is no longer available.\n';
  }

  async show(title: string, text: string): Promise<void> {
    await window.showTextDocument(this.document(title, text), { preview: true });
  }

  isOpen(title: string): boolean {
    return tabsOf(uriOf(title)).length > 0;
  }

  /** Another text for a document that is open. */
  update(title: string, text: string): void {
    this.document(title, text);
  }

  /** Shows a text beside the editor, until the function that is returned is called. The focus stays where it is. */
  async showBeside(title: string, text: string): Promise<() => Thenable<unknown>> {
    const uri = this.document(title, text);
    await window.showTextDocument(uri, beside(uri));
    return () => window.tabGroups.close(tabsOf(uri), true);
  }

  /** The same for a change, in a diff editor. */
  async showChangeBeside(title: string, before: string, after: string): Promise<() => Thenable<unknown>> {
    const [left, right] = [this.document(`before/${title}`, before), this.document(`after/${title}`, after)];
    await commands.executeCommand('vscode.diff', left, right, title, beside(right));
    return () => window.tabGroups.close(tabsOf(right), true);
  }

  /** Shows what would change in files, each with its texts before and afterwards. */
  async showChanges(title: string, changes: readonly Change[]): Promise<void> {
    const side = (path: string, which: string, text: string) => this.keep(Uri.file(path).with({ scheme: PREVIEW_SCHEME, query: `${which} ${title}` }), text);
    const sides = changes.map(({ path, before, after }) => [Uri.file(path), side(path, 'before', before), side(path, 'after', after)]);
    await commands.executeCommand('vscode.changes', title, sides);
  }

  private document(title: string, text: string): Uri {
    return this.keep(uriOf(title), text);
  }

  private keep(uri: Uri, text: string): Uri {
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    return uri;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function uriOf(title: string): Uri {
  return Uri.from({ scheme: PREVIEW_SCHEME, path: title });
}

/** What is open already comes to the front where it is. */
function beside(uri: Uri): TextDocumentShowOptions {
  return { viewColumn: tabsOf(uri)[0]?.group.viewColumn ?? ViewColumn.Beside, preserveFocus: true, preview: false };
}

function tabsOf(uri: Uri): readonly Tab[] {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter(({ input }) => {
    const shown = input instanceof TabInputText ? input.uri : input instanceof TabInputTextDiff ? input.modified : undefined;
    return shown?.toString() === uri.toString();
  });
}
