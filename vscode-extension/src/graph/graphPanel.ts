// The graph of all agents in a tab, which follows the catalogue, the problems and the editor.

import { languages, Uri, window, type Disposable, type Event, type WebviewPanel } from 'vscode';
import type { Catalogue } from '../agents/catalogue';
import { problemsOf } from '../agents/problems';
import { onRestored, Panel } from '../webviews/panel';
import { NOBODY, type Live } from './live';
import { stateOf, type GraphMessage, type GraphState } from './state';

const NAME = 'graph';

/** Milliseconds in which changes are collected. */
const PAUSE = 150;

export class GraphPanel implements Disposable {
  private panel: Panel<GraphState, GraphMessage> | undefined;
  private active: string | undefined;
  private waiting: NodeJS.Timeout | undefined;
  private readonly listeners: Disposable[];
  /** What agents do now. */
  private live: () => Live = () => NOBODY;
  /** What of it is shown. */
  private shownLive = '';

  constructor(
    private readonly extension: Uri,
    private readonly catalogue: Catalogue,
  ) {
    this.listeners = [
      catalogue.onDidChange(() => this.refresh()),
      languages.onDidChangeDiagnostics(() => this.refresh()),
      window.onDidChangeActiveTextEditor(() => this.refresh()),
      onRestored(NAME, async (panel) => (this.panel ? panel.dispose() : this.open(panel))),
    ];
  }

  show(): void {
    if (this.panel) {
      this.panel.reveal();
    } else {
      this.open();
    }
  }

  /** Shows what agents do, as `live` tells it whenever it may have changed. */
  follow(live: () => Live, onChange: Event<unknown>): void {
    this.live = live;
    this.listeners.push(onChange(() => this.panel && asText(live()) !== this.shownLive && this.refresh()));
  }

  dispose(): void {
    clearTimeout(this.waiting);
    this.listeners.forEach((listener) => listener.dispose());
    this.panel?.dispose();
  }

  /** `restored` was open before the window was loaded anew. */
  private open(restored?: WebviewPanel): void {
    const subject = {
      name: NAME,
      title: 'Graph of agents',
      state: () => this.state(),
      receive: ({ open }: GraphMessage) => void window.showTextDocument(Uri.parse(open), { preview: true }),
    };
    this.panel = new Panel(this.extension, subject, () => (this.panel = undefined), restored);
  }

  private refresh(): void {
    if (this.panel && !this.waiting) {
      this.waiting = setTimeout(() => {
        this.waiting = undefined;
        this.panel?.refresh();
      }, PAUSE);
    }
  }

  /** While the graph itself is in front, the agent that was in the editor before counts. */
  private state(): GraphState {
    const ids = new Map(this.catalogue.graph.nodes.map(({ id, uri }) => [uri && Uri.parse(uri).toString(), id]));
    const shown = window.activeTextEditor?.document.uri.toString();
    this.active = (shown && ids.get(shown)) ?? this.active;
    const active = this.active !== undefined && this.catalogue.graph.nodes.some(({ id }) => id === this.active) ? this.active : undefined;
    const live = this.live();
    this.shownLive = asText(live);
    return stateOf(this.catalogue.graph, (id) => problemsOf(Uri.parse(id)), active, live);
  }
}

function asText({ agents, calls }: Live): string {
  return JSON.stringify([[...agents], [...calls]]);
}
