// The workspace that the tests inside VS Code run in, and waiting for what VS Code does in its own time.

import assert from 'node:assert/strict';
import { commands, Uri, window, workspace, type TextDocument } from 'vscode';

const PATIENCE_MS = 45_000;
const POLL_MS = 25;

export function document(path: string): Thenable<TextDocument> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  assert.ok(folder);
  return workspace.openTextDocument(Uri.joinPath(folder, path));
}

export async function show(path: string): Promise<TextDocument> {
  return (await window.showTextDocument(await document(path))).document;
}

/** VS Code forgets a document some time after its editor has been closed; its language is enough here. */
export async function closed(uri: Uri): Promise<void> {
  await window.showTextDocument(uri);
  await commands.executeCommand('workbench.action.closeActiveEditor');
}

export async function eventually(what: string, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!condition()) {
    assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
