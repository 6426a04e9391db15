// The folders of the window.

import { realpath } from 'node:fs/promises';
import { workspace } from 'vscode';

/** Their paths, also by the names to which links lead. */
export async function workspaceFolders(): Promise<readonly string[]> {
  const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  return [...new Set([...folders, ...real])];
}
