// Where an agent's name stands, and what leads from there to others.

import { commands, Range, window, workspace, type DocumentSymbol, type Position, type Uri } from 'vscode';

/** Undefined for a file that has no `name`. */
export async function positionOfName(file: Uri): Promise<Position | undefined> {
  await workspace.openTextDocument(file); // So that the server has it open as well.
  const symbols = await commands.executeCommand<DocumentSymbol[] | undefined>('vscode.executeDocumentSymbolProvider', file);
  return symbols?.find(({ name }) => name === 'name')?.range.end.translate(0, -1);
}

/** Opens the file at the agent's name, and does there what the command does in an editor. */
export async function doAtName(file: Uri, command: string): Promise<void> {
  const place = await positionOfName(file);
  if (!place) {
    throw new Error('The agent’s file has no name = "…", so its references can’t be found.');
  }
  await window.showTextDocument(file, { selection: new Range(place, place) });
  await commands.executeCommand(command);
}
