// Puts together what shows runs: the view, their documents, their timelines, and what can be done with them.

import { commands, Disposable, Uri, workspace, type Event, type ExtensionContext } from 'vscode';
import type { LanguageClient, Middleware } from 'vscode-languageclient/node';
import type { Approvals } from '../approvals';
import { liveOf, type Live } from '../graph/live';
import type { OpenQuestion } from '../openQuestions';
import type { RunParams } from '../protocol';
import type { Register } from '../register';
import { RunPages } from '../runPage/runPages';
import { Forking } from './forking';
import { RunCommands } from './runCommands';
import { RUN_SCHEME, RunDocuments } from './runDocuments';
import { Runs } from './runs';
import { RunsView } from './runsView';
import { Timelines } from './timelines';
import { Undoing } from './undoing';
import { Edits } from './edits';
import { EDITS_SCHEME, Reviews } from './reviews';

export interface RunsFeature {
  listenTo(client: LanguageClient): void;
  /** Opens the page of a run that is remembered. */
  show(runId: string): Promise<void>;
  /** Whether a run is going on that a restart would end. */
  isGoing(): boolean;
  /** What agents do in the runs that are going on. */
  live(): Live;
  /** Something in a run has changed, or who waits for an answer. */
  readonly onDidChange: Event<unknown>;
  /** The question that stands in a row of the view. */
  questionOf(row: unknown): OpenQuestion | undefined;
  /** Runs an agent and shows what happens. Fails if the run does. */
  run(client: LanguageClient, params: RunParams): Promise<void>;
}

/** `start` sees to it that a server runs: whoever opens the view wants to know of runs, agents or no agents. */
export function showRuns(
  context: ExtensionContext,
  register: Register,
  approvals: Approvals,
  start: () => Promise<LanguageClient | undefined>,
): RunsFeature {
  const runs = new Runs();
  const view = new RunsView(runs, approvals.questions, start);
  const documents = new RunDocuments(runs);
  const timelines = new Timelines(context.extensionUri, runs, documents, start);
  const request: typeof runs.edits = (of, texts) => runs.edits(of, texts);
  const edits = new Edits(request);
  const reviews = new Reviews(request, async (rootRunId, runId) => (await runs.store.find(rootRunId)) && runs.store.run(rootRunId, runId));
  const pages = new RunPages(context.extensionUri, runs, edits, approvals.questions, start);
  const undoing = new Undoing(edits, reviews);
  const actions = new RunCommands(runs, view, documents, timelines, pages, reviews, undoing, new Forking(undoing, reviews));
  approvals.isInSight = ({ question }) => pages.isInSight(question.rootRunId);
  pages.use(actions.forPages(start, (asked, choice, text) => approvals.answer(asked, choice, text)));
  context.subscriptions.push(
    runs,
    view,
    documents,
    timelines,
    pages,
    edits,
    reviews,
    edits.onDidChange((root) => reviews.refresh(root.runId)),
    workspace.registerTextDocumentContentProvider(EDITS_SCHEME, reviews),
    workspace.registerTextDocumentContentProvider(RUN_SCHEME, documents),
    runs.changes.onDidChange(() => offerStop(runs)),
    ...actions.register(register),
  );
  return {
    listenTo: (client) => runs.listenTo(client),
    show: async (runId) => {
      const root = await runs.store.find(runId);
      await (root && pages.show(root));
    },
    live: () => liveOf(runs.store.roots().filter(({ status }) => status === 'running'), (runId) => approvals.questions.ofRun(runId).length > 0),
    onDidChange: (listener) => Disposable.from(runs.changes.onDidChange(listener), approvals.questions.onDidChange(listener)),
    isGoing: () => runs.store.going().length > 0,
    questionOf: (row) => view.questionOf(row),
    run: (client, params) => actions.run(client, params),
  };
}

/** Our commands that show what is at work, in place of the server's. */
const SHOWN: Record<string, string> = { 'axe.run': 'axeLsp.run', 'axe.preview': 'axeLsp.preview' };

/** The lenses of the server name its own commands, which tell nothing while they are at work. */
export const lensCommands: NonNullable<Middleware['executeCommand']> = (command, given, next) => {
  const ours = SHOWN[command];
  const params: { uri?: string } | undefined = given[0];
  return ours && params?.uri ? commands.executeCommand(ours, Uri.parse(params.uri)) : next(command, given);
};

/** Commands of lenses by the document that they are for. */
const ofDocuments = new Map<string, Disposable>();

/**
 * Lenses that run and preview get a command without arguments, one for each document. VS Code keeps the arguments of a
 * command elsewhere, and forgets those of lenses that it still shows if two of its requests for lenses overlap: "Actual
 * command not found, wanted to execute axe.run" (seen in VS Code 1.93), and pressing does nothing from then on.
 */
export const lensesWithoutArguments: NonNullable<Middleware['provideCodeLenses']> = async (document, token, next) => {
  const lenses = await next(document, token);
  for (const lens of lenses ?? []) {
    const ours = lens.command && SHOWN[lens.command.command];
    if (lens.command && ours) {
      const { title, tooltip } = lens.command;
      const command = `${ours} ${document.uri.toString()}`;
      if (!ofDocuments.has(command)) {
        ofDocuments.set(command, commands.registerCommand(command, () => commands.executeCommand(ours, document.uri)));
      }
      lens.command = { title, command, ...(tooltip && { tooltip }) };
    }
  }
  return lenses;
};

/** The command and its button are there while there is something to stop. */
function offerStop(runs: Runs): void {
  void commands.executeCommand('setContext', 'axeLsp.running', runs.store.going().length > 0);
}
