// What can be done with runs, from the view, from their documents and from the palette.

import { randomUUID } from 'node:crypto';
import { commands, Position, Range, Uri, window, workspace, type Disposable, type QuickPickItem } from 'vscode';
import { ResponseError, type LanguageClient } from 'vscode-languageclient/node';
import { isToldByPage } from '../failures';
import { showInformation } from '../messages';
import { ChangeMessageRequest, EventsRequest, MessageRequest, ResumeRequest, RunRequest, StopRequest, type MessageChange, type MessageMode, type ReplyParams, type RunParams } from '../protocol';
import type { Register } from '../register';
import type { Actions, Origin, RunPages } from '../runPage/runPages';
import { NewTestRequest } from '../tests/protocol';
import { inTrust } from '../trust';
import { duration, shortened } from './figures';
import type { Forking } from './forking';
import { isNode, rootOf, runOf, type RunNode } from './nodes';
import { iconOf, inWords, waitingElsewhere } from './presenting';
import { RUN_SCHEME, uriOf, type RunDocuments } from './runDocuments';
import type { Edited, Reviews } from './reviews';
import type { Runs } from './runs';
import type { RunsView } from './runsView';
import type { Timelines } from './timelines';
import type { Undoing } from './undoing';
import { exported } from './writing';

const MOST_FOUND = 1000;

interface RunItem extends QuickPickItem {
  readonly run: RunNode;
}

export class RunCommands {
  constructor(
    private readonly runs: Runs,
    private readonly view: RunsView,
    private readonly documents: RunDocuments,
    private readonly timelines: Timelines,
    private readonly pages: RunPages,
    private readonly reviews: Reviews,
    private readonly undoing: Undoing,
    private readonly forking: Forking,
  ) {}

  register(register: Register): Disposable[] {
    return [
      commands.registerCommand('axeLsp.showRuns', () => this.runs.show()),
      register('axeLsp.openNode', async (_, given) => void (isNode(given) && (await this.documents.show(given)))),
      register('axeLsp.stop', (client) => this.stop(client)),
      register('axeLsp.stopNode', (client, given) => this.stopNode(client, given)),
      register('axeLsp.runAgain', inTrust((client, given) => this.runAgain(client, given))),
      register('axeLsp.resumeRun', inTrust((client, given) => this.resume(client, given))),
      register('axeLsp.replyToRun', inTrust((client, given) => this.reply(client, given))),
      register('axeLsp.forkRun', inTrust((client, given) => this.fork(client, given))),
      register('axeLsp.undoRun', inTrust((client, given) => this.undo(client, given))),
      register('axeLsp.undoShown', inTrust((client, document) => this.undoShown(client, document))),
      register('axeLsp.newTest', inTrust((client, given) => this.newTest(client, given))),
      register('axeLsp.searchRuns', () => this.search()),
      register('axeLsp.filterRuns', () => this.filter()),
      commands.registerCommand('axeLsp.clearRunsFilter', () => (this.view.filter = '')),
      register('axeLsp.showRunsEverywhere', () => this.view.showEverywhere(true)),
      register('axeLsp.showRunsHere', () => this.view.showEverywhere(false)),
      register('axeLsp.refreshRuns', () => this.runs.refresh()),
      register('axeLsp.loadMoreRuns', () => this.runs.store.loadMore()),
      register('axeLsp.compareRuns', (_, one, selected) => this.compare(one, selected)),
      register('axeLsp.exportRun', (client, given) => this.export(client, given)),
      register('axeLsp.showTimeline', (_, given) => this.showTimeline(given)),
      register('axeLsp.showRunPage', (_, given) => this.showPage(given)),
    ];
  }

  /** Runs an agent, and lets the view show it if it is open. Fails if the run does. */
  async run(client: LanguageClient, params: RunParams): Promise<void> {
    const task = params.task?.trim();
    await this.follow(() => client.sendRequest(RunRequest, params), (root) => task === undefined || root.task.trim() === task);
  }

  private async stop(client: LanguageClient): Promise<void> {
    const run = await this.chooseGoing();
    if (run) {
      await this.end(client, run);
    }
  }

  /** A turn or a tool call ends with the run that it belongs to. */
  private async stopNode(client: LanguageClient, given: unknown): Promise<void> {
    if (isNode(given)) {
      await this.end(client, runOf(given));
    } else {
      // VS Code drew the row anew in the moment in which it was pressed, and can't say which it was.
      void showInformation('The list of runs changed a moment ago, so nothing was stopped. Press Stop again.');
    }
  }

  private async end(client: LanguageClient, run: RunNode): Promise<void> {
    const { stopped } = await client.sendRequest(StopRequest, { runId: run.runId });
    if (!stopped && run.status === 'running') {
      void showInformation(`${run.agent} was started in another window or terminal; stop it there.`);
    }
  }

  /** What pages can do, which are about one run. */
  forPages(running: () => Promise<LanguageClient | undefined>, answer: Actions['answer']): Actions {
    const asking = <Given extends unknown[]>(act: (client: LanguageClient, ...given: Given) => Promise<void>) => async (...given: Given) => {
      const client = await running();
      await (client && act(client, ...given));
    };
    return {
      stop: asking((client, run: RunNode) => this.end(client, run)),
      again: asking(inTrust((client, run: RunNode) => this.runAgain(client, run))),
      continue: asking(inTrust((client, run: RunNode, origin: Origin) => this.resume(client, run, origin))),
      reply: asking(inTrust((client, run: RunNode, text: string, origin: Origin) => this.sendReply(client, run, text, origin))),
      send: asking((client, run: RunNode, text: string, mode: MessageMode) => this.send(client, run, text, mode)),
      change: asking((client, run: RunNode, messageId: string, change: MessageChange) => this.change(client, run, messageId, change)),
      edit: asking(inTrust((client, run: RunNode, text: string, origin: Origin) => this.sendAgain(client, run, text, origin))),
      switchModel: asking(inTrust((client, run: RunNode) => this.switchModel(client, run))),
      retry: asking(inTrust((client, run: RunNode, turn: number) => this.retry(client, run, turn))),
      review: (edited) => this.reviews.show(edited),
      undo: asking(inTrust((client, edited: Edited) => this.undoing.undo(client, edited))),
      timeline: (run) => this.timelines.show(run),
      answer,
    };
  }

  private async runAgain(client: LanguageClient, given: unknown): Promise<void> {
    const run = await this.chosen(given, 'Which run, once more?');
    if (run) {
      await this.run(client, { agent: run.agent, ...(run.task ? { task: run.task } : {}) });
    }
  }

  /** The server says why a run can't go on. */
  private async resume(client: LanguageClient, given: unknown, origin?: Origin): Promise<void> {
    const run = await this.chosen(given, 'Continue which run?');
    if (run) {
      await this.follow(() => client.sendRequest(ResumeRequest, { runId: run.rootRunId }), (root) => root === run, origin);
    }
  }

  /** A further message in the conversation of a run that has ended. */
  private async reply(client: LanguageClient, given: unknown): Promise<void> {
    const run = await this.chosen(given, 'Reply to which run?', (each) => each.status !== 'running');
    const task = run && (await window.showInputBox({ title: `Reply to ${run.agent}`, prompt: shortened(run.task, 200), ignoreFocusOut: true }));
    if (run && task?.trim()) {
      await this.sendReply(client, run, task);
    }
  }

  /** A further message in the conversation of a run. */
  private async sendReply(client: LanguageClient, run: RunNode, task: string, origin?: Origin): Promise<void> {
    await this.follow(() => client.sendRequest(RunRequest, { continue: run.rootRunId, task, session: true }), (root) => root.continues === run.rootRunId, origin);
  }

  /** A message to a run that works; the server says why one takes none. */
  private async send(client: LanguageClient, { runId }: RunNode, text: string, mode: MessageMode): Promise<void> {
    await client.sendRequest(MessageRequest, { runId, text, mode, messageId: randomUUID() });
  }

  private async change(client: LanguageClient, { runId, agent }: RunNode, messageId: string, change: MessageChange): Promise<void> {
    const { changed } = await client.sendRequest(ChangeMessageRequest, { runId, messageId, ...change });
    if (!changed) {
      void showInformation(`${agent} was given the message before the change, which has no effect.`);
    }
  }

  /** Another message at the place of the one that a run answers: what was said before it is shared. */
  private async sendAgain(client: LanguageClient, run: RunNode, task: string, origin: Origin): Promise<void> {
    const former = run.continues;
    const params: RunParams | ReplyParams = former === undefined ? { agent: run.agent, task } : { continue: former, task, session: true };
    const fits = (root: RunNode) => root.continues === former && root.task.trim() === task;
    await this.follow(() => client.sendRequest(RunRequest, params), fits, origin);
  }

  /** Shows the run that begins: its page, or the output with all that happens. */
  private async follow(work: () => Promise<unknown>, fits: (root: RunNode) => boolean, origin?: Origin): Promise<void> {
    if (workspace.getConfiguration('axe').get('editor.showRuns') === 'output') {
      this.runs.show();
      await work();
      origin?.onBegin();
    } else {
      await this.pages.following(work, fits, origin).catch((error: unknown) => {
        if (!(error instanceof ResponseError && isToldByPage(error, (runId) => this.pages.isInSight(runId)))) {
          throw error;
        }
      });
    }
  }

  /** A new run shares the turns before one of a run that has ended, and goes on from there. */
  private async fork(client: LanguageClient, given: unknown): Promise<void> {
    const run = await this.chosen(given, 'Fork which run?', (each) => each.status !== 'running');
    const fromTurn = isNode(given) && given.kind === 'turn' ? given.number : run && (await this.chooseTurn(run));
    if (!run || fromTurn === undefined || !(await this.forking.prepare(client, run, fromTurn))) {
      return;
    }
    await this.forkWithModel(client, run, fromTurn, `Fork ${run.agent} at turn ${fromTurn}`);
  }

  /** A fork of a failed run at its last turn, whose request gets another model. */
  private async switchModel(client: LanguageClient, run: RunNode): Promise<void> {
    await this.forkWithModel(client, run, run.turns.at(-1)?.number ?? 1, `Go on with another model: ${run.agent}`);
  }

  private async forkWithModel(client: LanguageClient, run: RunNode, turn: number, title: string): Promise<void> {
    const model = await window.showInputBox({ title, prompt: 'Model of the fork', value: run.model, ignoreFocusOut: true });
    if (model !== undefined) {
      await this.forkAt(client, run, turn, model.trim() === run.model ? '' : model.trim());
    }
  }

  /** A fork with the same model. */
  private async retry(client: LanguageClient, run: RunNode, turn: number): Promise<void> {
    if (await this.forking.prepare(client, run, turn)) {
      await this.forkAt(client, run, turn, '');
    }
  }

  /** `model` is another one, if it is wanted. */
  private async forkAt(client: LanguageClient, run: RunNode, fromTurn: number, model: string): Promise<void> {
    const params = { runId: run.rootRunId, fromTurn, ...(model ? { model } : {}) };
    await this.follow(() => client.sendRequest(ResumeRequest, params), (root) => root.forkedFrom?.runId === run.rootRunId);
  }

  private async undo(client: LanguageClient, given: unknown): Promise<void> {
    const run = await this.chosen(given, 'Undo the file changes of which run?', (each) => each.status !== 'running');
    if (run) {
      await this.undoing.undo(client, { run: rootOf(run) });
    }
  }

  /** Undoes what the editor shows in whose title the button was pressed. */
  private async undoShown(client: LanguageClient, document: unknown): Promise<void> {
    const edited = await this.reviews.editedIn(document);
    if (edited) {
      await this.undoing.undo(client, edited);
    }
  }

  private async newTest(client: LanguageClient, given: unknown): Promise<void> {
    const run = await this.chosen(given, 'Make a test of which run?', (each) => each.status !== 'running');
    if (run) {
      const { uri, case: name, line, notes, results } = await client.sendRequest(NewTestRequest, { runId: run.rootRunId });
      const at = new Position(line - 1, 0);
      await window.showTextDocument(Uri.parse(uri), { selection: new Range(at, at) });
      const told = [`Case "${name}" ${results[0]?.verdict ?? 'made'}`, ...notes].join('. ');
      void showInformation(told);
    }
  }

  private async chooseTurn(run: RunNode): Promise<number | undefined> {
    await this.runs.store.load(run);
    const items = run.turns.map((turn) => ({ turn, label: `Turn ${turn.number}`, description: shortened(turn.text, 100) }));
    const placeHolder = 'At which turn? Turns before it are kept.';
    return (await window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.turn.number;
  }

  private async search(): Promise<void> {
    const run = await this.chooseRun('Search by agent, status, day or task');
    if (run) {
      await this.view.reveal(run, true);
      await this.documents.show(run);
    }
  }

  /** The view follows what is typed; Escape brings back what it has shown before. */
  private async filter(): Promise<void> {
    await this.loadAll();
    const before = this.view.filter;
    const box = window.createInputBox();
    box.title = 'Filter Runs';
    box.prompt = 'Words of the agent, the task, the model or the state, such as: reviewer failed';
    box.value = before;
    let isTaken = false;
    box.onDidChangeValue((words) => (this.view.filter = words));
    box.onDidAccept(() => {
      isTaken = true;
      this.view.filter = box.value;
      box.hide();
    });
    box.onDidHide(() => {
      if (!isTaken) {
        this.view.filter = before;
      }
      box.dispose();
    });
    box.show();
  }

  private async compare(given: unknown, selected: unknown): Promise<void> {
    const chosen = Array.isArray(selected) ? selected.filter(isNode).map(runOf) : [];
    const one = chosen[0] ?? (await this.chosen(given, 'Which run?'));
    const former = one?.forkedFrom && (await this.runs.store.find(one.forkedFrom.runId));
    const other = chosen[1] ?? former ?? (one && (await this.chooseRun(`Compare ${one.agent} with which run?`, (each) => each !== one)));
    if (one && other) {
      const [before, after] = one.began <= other.began ? [one, other] : [other, one];
      const title = `${before.agent} ${clock(before)} ↔ ${after.agent} ${clock(after)}`;
      await commands.executeCommand('vscode.diff', uriOf(before), uriOf(after), title);
    }
  }

  /** Writes what `axe-lsp history export` prints. */
  private async export(client: LanguageClient, given: unknown): Promise<void> {
    const run = await this.chosen(given, 'Which run?');
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const name = `${run?.agent}-${run?.runId.slice(0, 8)}.jsonl`;
    const target = run && (await window.showSaveDialog({ title: 'Export Run', ...(folder ? { defaultUri: Uri.joinPath(folder, name) } : {}) }));
    if (run && target) {
      const events = await client.sendRequest(EventsRequest, { runId: run.runId });
      await workspace.fs.writeFile(target, new TextEncoder().encode(exported(events)));
    }
  }

  private async showPage(given: unknown): Promise<void> {
    const run = typeof given === 'string' ? await this.runs.store.find(given) : await this.chosen(given, 'The page of which run?');
    if (run) {
      await this.pages.show(run);
    }
  }

  private async showTimeline(given: unknown): Promise<void> {
    const run = await this.chosen(given, 'The timeline of which run?');
    if (run) {
      await this.timelines.show(run);
    }
  }

  /** The run of the row or the document that a menu was opened on, of what is in front, or of a list. */
  private async chosen(given: unknown, question: string, fits = (_: RunNode) => true): Promise<RunNode | undefined> {
    if (isNode(given)) {
      return runOf(given);
    }
    const uri = given instanceof Uri ? given : window.activeTextEditor?.document.uri;
    const node = uri?.scheme === RUN_SCHEME ? await this.documents.nodeOf(uri) : undefined;
    return node ? runOf(node) : this.chooseRun(question, fits);
  }

  private async chooseGoing(): Promise<RunNode | undefined> {
    const going = this.runs.store.going();
    return going.length <= 1 ? going[0] : pickRun(going, 'Which run?');
  }

  /** As many as a person searches. */
  private async loadAll(): Promise<void> {
    await this.runs.refresh();
    if (this.runs.store.hasMore) {
      await this.runs.store.loadMore(MOST_FOUND);
    }
  }

  private async chooseRun(question: string, fits = (_: RunNode) => true): Promise<RunNode | undefined> {
    await this.loadAll();
    const runs = this.runs.roots().filter(fits);
    if (runs.length === 0) {
      void showInformation('No such run is remembered yet.');
      return undefined;
    }
    return pickRun(runs, question);
  }
}

async function pickRun(runs: readonly RunNode[], placeHolder: string): Promise<RunNode | undefined> {
  const options = { placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await window.showQuickPick(runs.map(itemOf), options))?.run;
}

function itemOf(run: RunNode): RunItem {
  const lasted = run.ended === undefined ? '' : `, ${duration(run.ended - run.began)}`;
  return {
    run,
    label: `$(${iconOf(run.status).id}) ${run.agent}`,
    description: `${waitingElsewhere(run) || inWords(run.status)} · ${new Date(run.began).toLocaleString()}${lasted}`,
    detail: shortened(run.task, 200),
  };
}

function clock(run: RunNode): string {
  return new Date(run.began).toLocaleTimeString();
}
