// All agents that the server knows, and who may call whom: asked for when the server says that there is news.

import { EventEmitter, type Disposable } from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import { announcing } from '../announcing';
import { AgentsChangedNotification, AgentsRequest, GraphRequest, type Agent, type Graph } from './protocol';

const NO_GRAPH: Graph = { complete: false, nodes: [], edges: [], cycles: [], unreachable: [] };

export class Catalogue implements Disposable {
  agents: readonly Agent[] = [];
  graph: Graph = NO_GRAPH;
  private readonly changed = new EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private client: LanguageClient | undefined;
  private isAsking = false;
  private isOutdated = false;

  listenTo(client: LanguageClient): void {
    client.registerFeature(announcing({ agentsChanged: true }));
    client.onNotification(AgentsChangedNotification, () => void this.refresh());
    client.onDidChangeState(({ newState }) => {
      this.client = newState === State.Running ? client : undefined;
      void this.refresh();
    });
  }

  /** The agents that may call the one with this URI, by name. */
  callersOf(uri: string): string[] {
    const callers = new Set(this.graph.edges.filter(({ from, to }) => to === uri && from !== uri).map(({ from }) => from));
    return this.graph.nodes.filter(({ id }) => callers.has(id)).map(({ name }) => name);
  }

  dispose(): void {
    this.changed.dispose();
  }

  /** One question at a time: news that come before the answer are asked about after it. */
  private async refresh(): Promise<void> {
    this.isOutdated = true;
    if (this.isAsking) {
      return;
    }
    this.isAsking = true;
    while (this.isOutdated) {
      this.isOutdated = false;
      await this.ask(this.client);
    }
    this.isAsking = false;
    this.changed.fire();
  }

  private async ask(client: LanguageClient | undefined): Promise<void> {
    try {
      const answers = client && (await Promise.all([client.sendRequest(AgentsRequest), client.sendRequest(GraphRequest, { format: 'json' })]));
      [this.agents, this.graph] = answers ?? [[], NO_GRAPH];
    } catch {
      // The server ends while it is asked; what comes after it brings its own news.
    }
  }
}
