// The timelines that are open: a webview for each root run, which follows it.

import type { Disposable, Uri, WebviewPanel } from 'vscode';
import { onRestored, Panel } from '../webviews/panel';
import { findNode, runOf, type Node, type RunNode } from './nodes';
import type { RunDocuments } from './runDocuments';
import type { Runs } from './runs';
import { timelineOf, type Timeline } from './timeline';

const NAME = 'timeline';
const PULSE = 1000;

/** Which run a page has shown. */
export interface Kept {
  readonly runId: string;
}

/** The reader wants to see what a bar stands for. */
export interface Opened {
  readonly open: string;
}

export class Timelines implements Disposable {
  private readonly open = new Map<RunNode, Panel<Timeline, Opened>>();
  private readonly subscriptions: readonly Disposable[];
  private readonly pulse = setInterval(() => this.beat(), PULSE);

  constructor(
    private readonly extension: Uri,
    private readonly runs: Runs,
    private readonly documents: RunDocuments,
    private readonly start: () => Promise<unknown>,
  ) {
    this.subscriptions = [
      runs.changes.onDidChange(({ nodes }) => this.refresh(nodes)),
      onRestored(NAME, (panel, kept: Kept | undefined) => this.restore(panel, kept)),
    ];
  }

  async show(node: Node): Promise<void> {
    const root = await this.runs.store.find(runOf(node).rootRunId);
    if (!root) {
      return;
    }
    const panel = this.open.get(root);
    if (panel) {
      panel.reveal();
    } else {
      this.open.set(root, this.panelFor(root));
    }
  }

  dispose(): void {
    clearInterval(this.pulse);
    this.subscriptions.forEach((each) => each.dispose());
    this.open.forEach((panel) => panel.dispose());
  }

  /** A run that is not remembered any more has no timeline. */
  private async restore(panel: WebviewPanel, kept: Kept | undefined): Promise<void> {
    await this.start();
    const root = kept && (await this.runs.store.find(kept.runId).catch(() => undefined));
    if (root && !this.open.has(root)) {
      this.open.set(root, this.panelFor(root, panel));
    } else {
      panel.dispose();
    }
  }

  private panelFor(root: RunNode, restored?: WebviewPanel): Panel<Timeline, Opened> {
    const subject = {
      name: NAME,
      title: `Timeline of ${root.agent}`,
      state: () => timelineOf(root, Date.now()),
      receive: ({ open }: Opened) => {
        const node = findNode(root, open.replace(/\/idle\/\d+$/, '')); // A wait stands for its run.
        void (node && this.documents.show(node));
      },
    };
    return new Panel(this.extension, subject, () => this.open.delete(root), restored);
  }

  private refresh(nodes: readonly Node[]): void {
    const roots = new Set(nodes.map((node) => runOf(node).rootRunId));
    this.open.forEach((panel, root) => roots.has(root.runId) && panel.refresh());
  }

  /** The bars of what goes on grow. */
  private beat(): void {
    this.open.forEach((panel, root) => root.status === 'running' && panel.refresh());
  }
}
