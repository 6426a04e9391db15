// Runs of agents: starts and stops them, and shows what happens in the output "axe runs".

import { commands, window, type Disposable } from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import {
  AgentNotification,
  RunRequest,
  StopRequest,
  TextNotification,
  ToolNotification,
  TurnNotification,
  type AgentBegin,
  type AgentEnd,
  type RunParams,
} from './protocol';
import { RunLog } from './runLog';

export class Runs implements Disposable {
  private readonly output = window.createOutputChannel('axe runs');
  private readonly log = new RunLog((text) => this.output.append(text));
  /** The runs that are under way, and their children, by run id. */
  private readonly active = new Map<string, AgentBegin>();

  listenTo(client: LanguageClient): void {
    client.onNotification(AgentNotification, (event) => this.follow(event));
    client.onNotification(TurnNotification, (event) => this.log.turn(event));
    client.onNotification(TextNotification, (event) => this.log.text(event));
    client.onNotification(ToolNotification, (event) => this.log.tool(event));
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped) {
        this.loseAll();
      }
    });
  }

  async run(client: LanguageClient, params: RunParams): Promise<void> {
    this.show();
    await client.sendRequest(RunRequest, params);
  }

  async stop(client: LanguageClient): Promise<void> {
    const runId = await this.chooseActive();
    if (runId !== undefined) {
      await client.sendRequest(StopRequest, { runId });
    }
  }

  show(): void {
    this.output.show(true);
  }

  dispose(): void {
    this.output.dispose();
  }

  private follow(event: AgentBegin | AgentEnd): void {
    this.log.agent(event);
    if (event.kind === 'end') {
      this.active.delete(event.runId);
    } else {
      this.active.set(event.runId, event);
      if (event.runId === event.rootRunId) {
        this.show();
      }
    }
    this.offerStop();
  }

  /** A server that has ended can't say any more that its runs have ended with it. */
  private loseAll(): void {
    const lost = [...this.active.values()].sort((one, other) => other.depth - one.depth);
    this.active.clear();
    lost.forEach((run) => this.log.lost(run));
    this.offerStop();
  }

  /** The command and its button are there while there is something to stop. */
  private offerStop(): void {
    void commands.executeCommand('setContext', 'axeLsp.running', this.active.size > 0);
  }

  private async chooseActive(): Promise<string | undefined> {
    const roots = [...this.active.values()].filter((run) => run.runId === run.rootRunId);
    if (roots.length <= 1) {
      return roots[0]?.runId;
    }
    const items = roots.map(({ agent, task, runId }) => ({ label: agent, detail: task, runId }));
    return (await window.showQuickPick(items, { placeHolder: 'Which run?' }))?.runId;
  }
}
