// The timelines that are open: a webview for each root run, which follows it.

import type { Disposable, Uri } from 'vscode';
import { Panel } from '../webviews/panel';
import { findNode, runOf, type Node, type RunNode } from './nodes';
import type { RunDocuments } from './runDocuments';
import type { Runs } from './runs';
import { timelineOf, type Timeline } from './timeline';

const PULSE = 1000;

/** The reader wants to see what a bar stands for. */
export interface Opened {
  readonly open: string;
}

export class Timelines implements Disposable {
  private readonly open = new Map<RunNode, Panel<Timeline, Opened>>();
  private readonly subscription: Disposable;
  private readonly pulse = setInterval(() => this.beat(), PULSE);

  constructor(
    private readonly extension: Uri,
    private readonly runs: Runs,
    private readonly documents: RunDocuments,
  ) {
    this.subscription = runs.changes.onDidChange(({ nodes }) => this.refresh(nodes));
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
    this.subscription.dispose();
    this.open.forEach((panel) => panel.dispose());
  }

  private panelFor(root: RunNode): Panel<Timeline, Opened> {
    const subject = {
      name: 'timeline',
      title: `Timeline of ${root.agent}`,
      state: () => timelineOf(root, Date.now()),
      receive: ({ open }: Opened) => {
        const node = findNode(root, open);
        void (node && this.documents.show(node));
      },
    };
    return new Panel(this.extension, subject, () => this.open.delete(root));
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
