// Opens what a link on the page of a run leads to: a file of a workspace folder in an editor, an address of the web after VS Code
// has asked. Nothing else, whatever a model has written.

import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { env, Position, Range, Uri, ViewColumn, window, workspace } from 'vscode';
import { placeOf } from './targets';
import { showInformation } from '../messages';

/** Relative paths begin in the first of `folders` that has the file, and then in those of the workspace; `page` is the column to leave alone. */
export async function openLink(target: string, folders: readonly string[], page: ViewColumn | undefined): Promise<void> {
  const place = placeOf(target);
  if (place.kind === 'address') {
    await env.openExternal(Uri.parse(place.address, true));
    return;
  }
  const file = place.kind === 'file' ? await findFile(place.path, folders) : undefined;
  if (!file || place.kind !== 'file') {
    void showInformation(`${target} is neither a file of this workspace nor an address of the web, so it was not opened.`);
    return;
  }
  const viewColumn = page === ViewColumn.One ? ViewColumn.Beside : ViewColumn.One;
  const start = new Position((place.line ?? 1) - 1, 0);
  await window.showTextDocument(Uri.file(file), { viewColumn, ...(place.line === undefined ? {} : { selection: new Range(start, start) }) });
}

/** A file that is in a folder of the workspace, also after links of the file system were followed. */
async function findFile(path: string, folders: readonly string[]): Promise<string | undefined> {
  const roots = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const allowed = await Promise.all(roots.map((root) => realpath(root)));
  for (const folder of [...folders, ...roots]) {
    const file = resolve(folder, path);
    const real = await realpath(file).catch(() => undefined);
    if (real !== undefined && allowed.some((root) => isBelow(real, root))) {
      return file;
    }
  }
  return undefined;
}

function isBelow(file: string, folder: string): boolean {
  const path = relative(folder, file);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
