// Puts together what shows runs: the view, their documents, their timelines, and what can be done with them.

import { commands, Uri, workspace, type ExtensionContext } from 'vscode';
import type { LanguageClient, Middleware } from 'vscode-languageclient/node';
import type { OpenQuestion, OpenQuestions } from '../openQuestions';
import type { Previews } from '../previews';
import type { RunParams } from '../protocol';
import type { Register } from '../register';
import { RunCommands } from './runCommands';
import { RUN_SCHEME, RunDocuments } from './runDocuments';
import { Runs } from './runs';
import { RunsView } from './runsView';
import { Timelines } from './timelines';
import { Undoing } from './undoing';

export interface RunsFeature {
  listenTo(client: LanguageClient): void;
  /** The question that stands in a row of the view. */
  questionOf(row: unknown): OpenQuestion | undefined;
  /** Runs an agent and shows what happens. Fails if the run does. */
  run(client: LanguageClient, params: RunParams): Promise<void>;
}

/** `start` sees to it that a server runs: whoever opens the view wants to know of runs, agents or no agents. */
export function showRuns(
  context: ExtensionContext,
  register: Register,
  previews: Previews,
  questions: OpenQuestions,
  start: () => Promise<unknown>,
): RunsFeature {
  const runs = new Runs();
  const view = new RunsView(runs, questions, start);
  const documents = new RunDocuments(runs);
  const timelines = new Timelines(context.extensionUri, runs, documents, start);
  const actions = new RunCommands(runs, view, documents, timelines, new Undoing(previews));
  context.subscriptions.push(
    runs,
    view,
    documents,
    timelines,
    workspace.registerTextDocumentContentProvider(RUN_SCHEME, documents),
    runs.changes.onDidChange(() => offerStop(runs)),
    ...actions.register(register),
  );
  return {
    listenTo: (client) => runs.listenTo(client),
    questionOf: (row) => view.questionOf(row),
    run: (client, params) => actions.run(client, params),
  };
}

/** The lenses of the server name its own commands, which tell nothing while they are at work. */
export const lensCommands: NonNullable<Middleware['executeCommand']> = (command, given, next) => {
  const ours = { 'axe.run': 'axeLsp.run', 'axe.preview': 'axeLsp.preview' }[command];
  const params: { uri?: string } | undefined = given[0];
  return ours && params?.uri ? commands.executeCommand(ours, Uri.parse(params.uri)) : next(command, given);
};

/** The command and its button are there while there is something to stop. */
function offerStop(runs: Runs): void {
  void commands.executeCommand('setContext', 'axeLsp.running', runs.store.going().length > 0);
}
