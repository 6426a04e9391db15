// What the user can do about the language server, and what happens by itself when something about it changes.

import {
  commands,
  ConfigurationTarget,
  Disposable,
  window,
  workspace,
  type ExtensionContext,
  type LogOutputChannel,
} from 'vscode';
import { reportFailure } from '../reportFailure';
import { MANAGE_TRUST } from '../trust';
import { openConfig } from './config';
import type { Connection } from './connection';
import { copyDemo } from './demo';
import { installServer } from './installed';
import type { Reports } from './reports';
import { searchPython } from './search';
import { onOtherPython } from './selectedPython';

const FIXED_AT_START = ['axe.server', 'axe.agentPaths'];

export function serverCommands(context: ExtensionContext, connection: Connection, reports: Reports, log: LogOutputChannel): Disposable[] {
  return [
    followPython(connection),
    commands.registerCommand('axeLsp.restart', () => {
      reports.tellAgain();
      return connection.restart();
    }),
    commands.registerCommand('axeLsp.showServerLog', () => log.show()),
    commands.registerCommand('axeLsp.chooseServer', chooseServer),
    commands.registerCommand('axeLsp.manageTrust', () => commands.executeCommand(MANAGE_TRUST)),
    commands.registerCommand('axeLsp.openConfig', async () => {
      const server = await connection.program();
      await (server && openConfig(server).catch(reportFailure));
    }),
    commands.registerCommand('axeLsp.getStarted', () => {
      return commands.executeCommand('workbench.action.openWalkthrough', `${context.extension.id}#start`);
    }),
    commands.registerCommand('axeLsp.copyDemo', async () => {
      const server = await connection.program();
      await (server && copyDemo(context, server));
    }),
    commands.registerCommand('axeLsp.installServer', async () => {
      await connection.stop(); // What runs can't be replaced everywhere.
      await installServer(context, log, await searchPython());
      await connection.restart();
    }),
    workspace.onDidGrantWorkspaceTrust(() => connection.restart()),
    workspace.onDidChangeConfiguration((event) => {
      if (FIXED_AT_START.some((setting) => event.affectsConfiguration(setting))) {
        void connection.restart();
      }
    }),
  ];
}

/** What the user selects may have a server. The Python extension is at work only after it has been asked once. */
function followPython(connection: Connection): Disposable {
  let following: Disposable | undefined;
  const waiting = connection.onDidChangeState(({ kind }) => {
    if (kind === 'running' || kind === 'missing') {
      following ??= onOtherPython(() => void connection.searchAgain());
    }
  });
  return Disposable.from(waiting, { dispose: () => following?.dispose() });
}

/** A change of the setting restarts the server. */
async function chooseServer(): Promise<void> {
  const chosen = await window.showOpenDialog({ title: 'The Program axe-lsp', openLabel: 'Use This Program' });
  const path = chosen?.[0]?.fsPath;
  if (path) {
    await workspace.getConfiguration('axe').update('server.path', path, ConfigurationTarget.Global);
  }
}
