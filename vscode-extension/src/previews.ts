// Texts of the server (what would be sent, what happened in a run) as documents that can't be edited and ask nothing
// when they are closed.

import { commands, EventEmitter, TabInputText, TabInputTextDiff, TabInputWebview, Uri, ViewColumn, window, type Disposable, type Tab, type TabGroup, type TextDocumentContentProvider, type TextDocumentShowOptions } from 'vscode';

export const PREVIEW_SCHEME = 'axe-preview';

export class Previews implements TextDocumentContentProvider, Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.toString()) ?? 'This content is no longer available: the window was reloaded, or the question was answered.\n';
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

  /** Shows a text beside what is in front, until the function that is returned is called. Without `takesFocus` the focus stays where it is. */
  async showBeside(uri: Uri, text: string, takesFocus = false): Promise<() => Thenable<unknown>> {
    await window.showTextDocument(this.keep(uri, text), beside(uri, takesFocus));
    return () => this.close(uri);
  }

  /** The same for a change, in a diff editor, whose right side is the document `uri`. */
  async showChangeBeside(uri: Uri, title: string, before: string, after: string, takesFocus = false): Promise<() => Thenable<unknown>> {
    const left = this.keep(uri.with({ path: `before/${uri.path}` }), before);
    await commands.executeCommand('vscode.diff', left, this.keep(uri, after), title, beside(uri, takesFocus));
    return () => this.close(uri, left);
  }

  /** The texts of questions are not kept: each has documents of its own. */
  private async close(uri: Uri, ...others: readonly Uri[]): Promise<void> {
    await window.tabGroups.close(tabsOf(uri), true);
    [uri, ...others].forEach((each) => this.texts.delete(each.toString()));
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

export function uriOf(title: string): Uri {
  return Uri.from({ scheme: PREVIEW_SCHEME, path: title });
}

/**
 * What is open already comes to the front where it is. What a user wants to see leaves alone the pages that they have in front of
 * them; what comes by itself leaves alone the editor with the focus.
 */
function beside(uri: Uri, takesFocus: boolean): TextDocumentShowOptions {
  const { all, activeTabGroup } = window.tabGroups;
  const isFree = ({ activeTab }: TabGroup) => !(activeTab?.input instanceof TabInputWebview);
  const hasPages = all.some((group) => !isFree(group));
  const free = takesFocus && hasPages ? [activeTabGroup, ...all].find(isFree) : undefined;
  const viewColumn = tabsOf(uri)[0]?.group.viewColumn ?? free?.viewColumn ?? ViewColumn.Beside;
  return { viewColumn, preserveFocus: !takesFocus, preview: false };
}

function tabsOf(uri: Uri): readonly Tab[] {
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.filter(({ input }) => {
    const shown = input instanceof TabInputText ? input.uri : input instanceof TabInputTextDiff ? input.modified : undefined;
    return shown?.toString() === uri.toString();
  });
}
