// What happens in runs, as the server tells it: kept in the store, and written to the output "axe runs".

import { EventEmitter, Uri, window, type Disposable } from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import { announcing } from '../announcing';
import {
  AgentNotification,
  ChangesRequest,
  ContextNotification,
  EventsRequest,
  MessageNotification,
  RunsRequest,
  SubscribeRequest,
  TextNotification,
  ThoughtNotification,
  ToolNotification,
  TurnNotification,
  PlaceNotification,
  WaitNotification,
  type ChangesOf,
  type Happening,
  type RunEdits,
} from '../protocol';
import { Changes } from './changes';
import { workspaceFolders } from './folders';
import { isInside } from './paths';
import { RunLog } from './runLog';
import type { RunNode } from './nodes';
import { RunStore, type Source } from './store';

/** Milliseconds between two looks at what has changed, for documents and timelines. */
const PAUSE = 100;

export class Runs implements Disposable {
  readonly changes = new Changes(PAUSE);
  readonly store = new RunStore(this.source(), (node) => this.changes.add(node));
  private readonly output = window.createOutputChannel('axe runs');
  private readonly log = new RunLog((text) => this.output.append(text));
  private readonly connected = new EventEmitter<void>();
  /** A server has started, and may have been told of nothing yet. */
  readonly onDidConnect = this.connected.event;
  private readonly began = new EventEmitter<RunNode>();
  /** A root run has begun or goes on, which this window hears of. */
  readonly onDidBegin = this.began.event;
  /** Whether the list has the runs of all folders, and not those of this window alone. */
  isEverywhere = false;
  private folders: readonly string[] = [];
  private client: LanguageClient | undefined;
  private isSubscribed = false;
  /** Whether runs have ended with the last server, unless they have outlived it. */
  private hasLost = false;

  listenTo(client: LanguageClient): void {
    client.registerFeature(announcing({ attach: true }));
    client.onNotification(AgentNotification, (params) => this.take({ method: 'axe/agent', params }));
    client.onNotification(TurnNotification, (params) => this.take({ method: 'axe/turn', params }));
    client.onNotification(TextNotification, (params) => this.take({ method: 'axe/text', params }));
    client.onNotification(ThoughtNotification, (params) => this.take({ method: 'axe/thought', params }));
    client.onNotification(PlaceNotification, (params) => this.take({ method: 'axe/place', params }));
    client.onNotification(WaitNotification, (params) => this.take({ method: 'axe/wait', params }));
    client.onNotification(ContextNotification, (params) => this.take({ method: 'axe/context', params }));
    client.onNotification(MessageNotification, (params) => this.take({ method: 'axe/message', params }));
    client.onNotification(ToolNotification, (params) => this.take({ method: 'axe/tool', params }));
    client.onDidChangeState(({ newState }) => this.follow(client, newState));
  }

  /** Learns of all runs of this server, also of those that others start, and of what is remembered. */
  async refresh(): Promise<void> {
    const client = await this.running();
    if (!this.isSubscribed) {
      this.isSubscribed = true;
      await client.sendRequest(SubscribeRequest, {});
    }
    await this.store.refresh();
  }

  /** The files that a run or one of its turns has changed, with their `texts` if they are wanted. */
  async edits(of: ChangesOf, texts: boolean): Promise<RunEdits> {
    return (await this.running()).sendRequest(ChangesRequest, { ...of, texts });
  }

  /** The list has the runs of all folders, or those of this window. */
  async look(everywhere: boolean): Promise<void> {
    this.isEverywhere = everywhere;
    this.store.begin();
    await this.refresh();
  }

  /** Whether a root run took place in a folder of this window; what its own server tells of has no folder. */
  isHere({ workspace }: RunNode): boolean {
    return this.folders.length === 0 || workspace === '' || isInside(workspace, this.folders);
  }

  /** The root runs of the list, newest first. */
  roots(): RunNode[] {
    return this.store.roots().filter((run) => this.isEverywhere || this.isHere(run));
  }

  show(): void {
    this.output.show(true);
  }

  dispose(): void {
    this.output.dispose();
    this.connected.dispose();
    this.began.dispose();
    this.changes.dispose();
  }

  private take(event: Happening): void {
    this.store.take(event);
    this.write(event);
    const { params } = event;
    if (event.method === 'axe/agent' && (event.params.kind === 'begin' || event.params.kind === 'resume') && params.runId === params.rootRunId) {
      const root = this.store.run(params.runId, params.runId);
      if (root) {
        this.began.fire(root);
      }
    }
  }

  private write(event: Happening): void {
    switch (event.method) {
      case 'axe/agent':
        return this.log.agent(event.params);
      case 'axe/turn':
        return this.log.turn(event.params);
      case 'axe/text':
        return this.log.text(event.params);
      case 'axe/thought':
        return this.log.thought(event.params);
      case 'axe/place':
        return this.log.place(event.params);
      case 'axe/wait':
      case 'axe/context':
        return this.log.state(event.params);
      case 'axe/message':
        return this.log.message(event.params);
      case 'axe/tool':
        return this.log.tool(event.params);
    }
  }

  private follow(client: LanguageClient, state: State): void {
    if (state === State.Running) {
      this.client = client;
      this.isSubscribed = false;
      this.connected.fire();
      if (this.hasLost) {
        this.hasLost = false;
        void this.refresh().catch(() => undefined); // What goes on is told with its next event.
      }
    } else if (state === State.Stopped && this.client === client) {
      this.client = undefined;
      const lost = this.store.loseAll(Date.now());
      lost.forEach((run) => this.log.lost(run));
      this.hasLost ||= lost.length > 0;
    }
  }

  private source(): Source {
    return {
      runs: async (params) => {
        this.folders = await workspaceFolders();
        const folders = this.folders.map((folder) => Uri.file(folder).toString());
        const isAll = this.isEverywhere || folders.length === 0;
        return (await this.running()).sendRequest(RunsRequest, { ...params, ...(isAll ? {} : { folders }) });
      },
      events: async (params) => (await this.running()).sendRequest(EventsRequest, params),
    };
  }

  /** Waits for the server, which starts with the window or when a command asks for it. */
  private async running(): Promise<LanguageClient> {
    while (!this.client) {
      await new Promise<void>((resolve) => {
        const once = this.onDidConnect(() => {
          once.dispose();
          resolve();
        });
      });
    }
    return this.client;
  }
}
