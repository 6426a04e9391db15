// What the code lenses above an agent do in VS Code. The server's own commands would show no more of a run
// than its answer; the extension's show the whole run.

import { commands, Position, Uri } from 'vscode';
import {
  ReferencesRequest,
  type ExecuteCommandMiddleware,
  type LanguageClient,
  type StaticFeature,
} from 'vscode-languageclient/node';

export const SHOW_REFERENCES = 'axe.showReferences';

const OWN = new Map([
  ['axe.run', 'axeLsp.run'],
  ['axe.preview', 'axeLsp.preview'],
]);

/** Commands about a file are the extension's; those that name an agent stay with the server. */
export const executeCommand: Required<ExecuteCommandMiddleware>['executeCommand'] = (command, args, next) => {
  const own = OWN.get(command);
  const { uri, task } = (args[0] ?? {}) as { uri?: string; task?: string };
  return own && uri ? commands.executeCommand(own, Uri.parse(uri), task) : next(command, args);
};

/** Tells the server that the extension can show references, so that it offers that lens. */
export const knownCommands: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: [SHOW_REFERENCES] } };
  },
  initialize() {},
  getState: () => ({ kind: 'static' }),
  clear() {},
};

/** Opens the references of what is at a position, in the terms of LSP. */
export async function showReferences(client: LanguageClient, uri: unknown, position: unknown): Promise<void> {
  const { line, character } = position as { line: number; character: number };
  const locations = await client.sendRequest(ReferencesRequest.type, {
    textDocument: { uri: String(uri) },
    position: { line, character },
    context: { includeDeclaration: false },
  });
  await commands.executeCommand(
    'editor.action.showReferences',
    client.protocol2CodeConverter.asUri(String(uri)),
    new Position(line, character),
    (await client.protocol2CodeConverter.asReferences(locations)) ?? [],
  );
}
