// What happened in a run as read-only documents, which grow while it goes on.

import { EventEmitter, Uri, window, workspace, type Disposable, type TextDocumentContentProvider } from 'vscode';
import { findNode, idOf, runOf, type Node } from './nodes';
import type { Runs } from './runs';
import { documentName, documentOf } from './writing';

export const RUN_SCHEME = 'axe-run';

export class RunDocuments implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;
  private readonly subscription: Disposable;

  constructor(private readonly runs: Runs) {
    this.subscription = runs.changes.onDidChange(({ nodes }) => this.refresh(nodes));
  }

  /** Also after the window was loaded anew, when nothing is known yet of the run. */
  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const node = await this.nodeOf(uri);
    return node ? documentOf(node, Date.now()) : 'This run is no longer in the history.\n';
  }

  async nodeOf(uri: Uri): Promise<Node | undefined> {
    const root = await this.runs.store.find(rootIdOf(uri)).catch(() => undefined);
    return root && findNode(root, uri.fragment.slice(1));
  }

  async show(node: Node): Promise<void> {
    await window.showTextDocument(uriOf(node), { preview: true });
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }

  private refresh(nodes: readonly Node[]): void {
    const roots = new Set(nodes.map((node) => runOf(node).rootRunId));
    const open = workspace.textDocuments.filter(({ uri }) => uri.scheme === RUN_SCHEME && roots.has(rootIdOf(uri)));
    open.forEach(({ uri }) => this.changed.fire(uri));
  }
}

/** The slash is there because VS Code takes a fragment that begins with a digit for a line, and cuts it off. */
export function uriOf(node: Node): Uri {
  const name = documentName(node).replaceAll(/[/\\]/g, ' ');
  return Uri.from({ scheme: RUN_SCHEME, path: `/${name}.md`, query: runOf(node).rootRunId, fragment: `/${idOf(node)}` });
}

function rootIdOf(uri: Uri): string {
  return uri.query;
}
