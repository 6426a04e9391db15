// The demo of the language server as a folder of the user's own, with its first agent in the editor.

import { commands, Uri, window, workspace, type ExtensionContext } from 'vscode';
import { showError } from '../messages';
import type { Server } from './programs';
import { told } from './told';

const NAME = 'axe-demo';
const FIRST_AGENT = 'axe/agents/release-check.toml';

/** Under this name is remembered which folder has just been made: another window, or this one anew, opens its agent. */
const MADE = 'demoMade';

export async function copyDemo(context: ExtensionContext, server: Server): Promise<void> {
  const options = { canSelectFolders: true, canSelectFiles: false, title: 'Where to Put the Demo', openLabel: 'Put It Here' };
  const parent = (await window.showOpenDialog(options))?.[0];
  if (!parent) {
    return;
  }
  const folder = Uri.joinPath(parent, NAME);
  try {
    await told(server, 'demo', '--copy', folder.fsPath);
  } catch (error) {
    void showError(`The demo could not be copied: ${error instanceof Error ? error.message : String(error)}`);
    return;
  }
  await context.globalState.update(MADE, folder.toString());
  await commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: false });
}

/** Where the folder of the window is the demo that was copied last, for the first time. */
export async function openDemo(context: ExtensionContext): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  if (folder && folder.toString() === context.globalState.get(MADE)) {
    await context.globalState.update(MADE, undefined);
    await window.showTextDocument(Uri.joinPath(folder, FIRST_AGENT), { preview: false });
  }
}
