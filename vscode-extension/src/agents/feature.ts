// Puts together what shows agents: the view, their graph, and what can be done with them.

import type { Event, ExtensionContext } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { FORM, InputForms } from '../forms/inputForms';
import type { FormView } from '../forms/protocol';
import { GraphPanel } from '../graph/graphPanel';
import type { Live } from '../graph/live';
import type { Previews } from '../previews';
import type { Register } from '../register';
import { TestingView } from '../tests/testingView';
import { inTrust } from '../trust';
import { onRestored } from '../webviews/panel';
import { Catalogue } from './catalogue';
import { AgentEditing } from './editing';
import { lensAnnouncement, clientCommands } from './lenses';
import { doAtName } from './places';
import { PromptPreviews } from './promptPreviews';
import { askForInput, previewAgent, restoreForm, runAgent, usesOf, type Run } from './running';
import { agentFile, targetFile } from './target';
import { Tasks } from './tasks';
import { AgentsView } from './view';

export interface AgentsFeature {
  /** Whether the user sees the view. */
  isVisible(): boolean;
  listenTo(client: LanguageClient): void;
  /** Shows in the graph what agents do, as `live` tells it whenever it may have changed. */
  follow(live: () => Live, onChange: Event<unknown>): void;
}

/** What else the extension has that this needs. */
export interface Surroundings {
  readonly previews: Previews;
  readonly run: Run;
  running(): Promise<LanguageClient | undefined>;
  /** Opens the page of a run that is remembered. */
  showRun(runId: string): Promise<void>;
  report(error: unknown): void;
}

export function showAgents(context: ExtensionContext, register: Register, around: Surroundings): AgentsFeature {
  const catalogue = new Catalogue();
  const editing = new AgentEditing(catalogue);
  const previews = new PromptPreviews(around.previews);
  const tasks = new Tasks(context.workspaceState);
  const uses = usesOf(() => around.running(), around.run, tasks, previews, (error) => around.report(error));
  const forms = new InputForms(context.extensionUri, context.workspaceState, uses);
  const view = new AgentsView(catalogue);
  const graph = new GraphPanel(context.extensionUri, catalogue);
  const testing = new TestingView(() => around.running(), catalogue, around.previews, (runId) => around.showRun(runId));
  context.subscriptions.push(
    catalogue,
    graph,
    previews,
    view,
    testing,
    onRestored(FORM, async (panel, kept: FormView | undefined) => restoreForm(await around.running(), forms, panel, kept)),
    ...clientCommands(),
    register('axeLsp.run', inTrust(async (client, given, task) => runAgent(client, around.run, forms, tasks, await agentFile(given, catalogue), task))),
    register('axeLsp.runWithInput', inTrust(async (client, given) => askForInput(client, forms, await agentFile(given, catalogue)))),
    register('axeLsp.preview', async (client, given) => previewAgent(client, previews, await agentFile(given, catalogue))),
    register('axeLsp.showGraph', async () => graph.show()),
    register('axeLsp.newAgent', (client) => editing.create(client)),
    register('axeLsp.newSubAgent', (client, given) => editing.createSubAgent(client, given)),
    register('axeLsp.renameAgent', (client, given) => editing.rename(client, given)),
    register('axeLsp.deleteAgent', (_, given) => editing.delete(given)),
    register('axeLsp.findReferences', (_, given) => atName(given, 'references-view.findReferences')),
    register('axeLsp.showCallHierarchy', (_, given) => atName(given, 'references-view.showCallHierarchy')),
  );
  return {
    isVisible: () => view.isVisible,
    follow: (live, onChange) => graph.follow(live, onChange),
    listenTo: (client) => {
      client.registerFeature(lensAnnouncement);
      catalogue.listenTo(client);
      testing.listenTo(client);
    },
  };
}

async function atName(given: unknown, command: string): Promise<void> {
  const file = targetFile(given);
  if (file) {
    await doAtName(file, command);
  }
}
