// Puts together what shows agents: the view, and what can be done with them there.

import type { ExtensionContext } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Register } from '../register';
import { Catalogue } from './catalogue';
import { AgentEditing } from './editing';
import { doAtName } from './places';
import { targetFile } from './target';
import { AgentsView } from './view';

export interface AgentsFeature {
  listenTo(client: LanguageClient): void;
}

export function showAgents(context: ExtensionContext, register: Register): AgentsFeature {
  const catalogue = new Catalogue();
  const editing = new AgentEditing(catalogue);
  context.subscriptions.push(
    catalogue,
    new AgentsView(catalogue),
    register('axeLsp.newAgent', (client) => editing.create(client)),
    register('axeLsp.newSubAgent', (client, given) => editing.createSubAgent(client, given)),
    register('axeLsp.renameAgent', (client, given) => editing.rename(client, given)),
    register('axeLsp.deleteAgent', (_, given) => editing.delete(given)),
    register('axeLsp.findReferences', (_, given) => atName(given, 'references-view.findReferences')),
    register('axeLsp.showCallHierarchy', (_, given) => atName(given, 'references-view.showCallHierarchy')),
  );
  return { listenTo: (client) => catalogue.listenTo(client) };
}

async function atName(given: unknown, command: string): Promise<void> {
  const file = targetFile(given);
  if (file) {
    await doAtName(file, command);
  }
}
