// The demo of the language server as a folder of the user's own.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { commands, Uri, window } from 'vscode';
import type { Server } from './programs';

const NAME = 'axe-demo';

export async function copyDemo({ command, args }: Server): Promise<void> {
  const options = { canSelectFolders: true, canSelectFiles: false, title: 'Where to Put the Demo', openLabel: 'Put It Here' };
  const parent = (await window.showOpenDialog(options))?.[0];
  if (!parent) {
    return;
  }
  const folder = Uri.joinPath(parent, NAME);
  try {
    await promisify(execFile)(command, [...args, 'demo', '--copy', folder.fsPath], { windowsHide: true });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    void window.showErrorMessage(`The demo could not be copied: ${said}`);
    return;
  }
  await commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: false });
}
