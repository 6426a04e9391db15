// Where VS Code enters: puts the parts together and registers the commands. The server registers its own
// commands (axe.run …) through the client; the names here are others.

import { commands, languages, window, workspace, type ExtensionContext, type TextDocument } from 'vscode';
import { hasAgents, isServedByPlace } from './agentFiles';
import { showAgents } from './agents/feature';
import { ApiKeys } from './apiKeys';
import { Approvals } from './approvals';
import { CodeAnswers } from './code/codeAnswers';
import { FirstSteps } from './firstSteps';
import { LANGUAGES, recognizeAgents } from './languages';
import { showInformation } from './messages';
import { PREVIEW_SCHEME, Previews } from './previews';
import type { Register } from './register';
import { reportFailure } from './reportFailure';
import { showRuns } from './runs/feature';
import { serverCommands } from './server/commands';
import { Connection } from './server/connection';
import { openDemo } from './server/demo';
import { Reports } from './server/reports';
import { searchServer } from './server/search';

let connection: Connection | undefined;

export function activate(context: ExtensionContext): void {
  const previews = new Previews();
  const approvals = new Approvals(context.workspaceState, previews);
  const codeAnswers = new CodeAnswers();
  const log = window.createOutputChannel('axe-lsp', { log: true });
  const reports = new Reports(context);
  const keys = new ApiKeys(context.secrets);
  const server = new Connection({
    log,
    search: () => searchServer(context),
    environment: () => keys.environment(),
    prepare: (client) => {
      runs.listenTo(client);
      approvals.listenTo(client);
      codeAnswers.listenTo(client);
      agents.listenTo(client);
    },
  });
  const steps = new FirstSteps();
  server.onDidChangeState((state) => {
    reports.show(state);
    if (state.kind === 'running') {
      steps.did('server');
    }
  });
  connection = server;

  const register: Register = (name, action) =>
    commands.registerCommand(name, async (...given: unknown[]) => {
      const client = await server.running();
      if (client) {
        await action(client, ...given).catch(reportFailure);
      }
    });

  const agents = showAgents(context, register, {
    previews,
    run: (client, params) => {
      steps.did('run');
      return runs.run(client, params);
    },
    running: () => server.running(),
    showRun: (runId) => runs.show(runId),
    report: reportFailure,
  });
  const runs = showRuns(context, register, approvals, () => server.running());
  agents.follow(() => runs.live(), runs.onDidChange);
  reports.isInSight = () => agents.isVisible();

  context.subscriptions.push(
    log,
    reports,
    server,
    previews,
    workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, previews),
    approvals,
    ...approvals.register((row) => runs.questionOf(row)),
    ...codeAnswers.register(),
    ...serverCommands(context, server, reports, log),
    ...recognizeAgents(),
    commands.registerCommand('axeLsp.setApiKey', async (variable: unknown) => {
      if (await keys.set(typeof variable === 'string' ? variable : undefined)) {
        await restartFor(server, runs.isGoing());
      }
    }),
    steps,
  );
  void openDemo(context);
  void firstAgent(context).then(() => server.running());
}

/**
 * Until there is an agent, nobody needs a server: the extension wakes up for any text that might be one. An agent counts
 * that is opened while the folders are still being searched, too.
 */
function firstAgent(context: ExtensionContext): Promise<void> {
  const isOurs = (document: TextDocument) => languages.match(LANGUAGES, document) > 0 || isServedByPlace(document);
  return new Promise((resolve, reject) => {
    context.subscriptions.push(workspace.onDidOpenTextDocument((document) => isOurs(document) && resolve()));
    if (workspace.textDocuments.some(isOurs)) {
      resolve();
    } else {
      hasAgents().then((has) => has && resolve(), reject);
    }
  });
}

export function deactivate(): Promise<void> | undefined {
  return connection?.stop();
}

/** A server gets keys when it starts. A restart ends runs, so the user is asked while some are going on. */
async function restartFor(server: Connection, isBusy: boolean): Promise<void> {
  const restart = 'Restart and End Runs';
  if (!isBusy || (await showInformation('The key is used from the next start of the language server on. Runs are going on.', restart)) === restart) {
    await server.restart();
  }
}
