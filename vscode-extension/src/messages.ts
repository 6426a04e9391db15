// Messages of VS Code. Each goes through here: VS Code takes `[text](command:…)` in a message for a link that executes the command,
// and names of agents, files and cases, and errors of the server, may have one.

import { window, type MessageOptions } from 'vscode';
import { withoutLinks } from './questions';

export function showInformation<Item extends string>(message: string, ...items: Item[]): Thenable<Item | undefined> {
  return window.showInformationMessage(withoutLinks(message), ...items);
}

export function showWarning<Item extends string>(message: string, ...items: Item[]): Thenable<Item | undefined> {
  return window.showWarningMessage(withoutLinks(message), ...items);
}

export function showError<Item extends string>(message: string, ...items: Item[]): Thenable<Item | undefined> {
  return window.showErrorMessage(withoutLinks(message), ...items);
}

/** A dialog that has to be answered. */
export function askWithWarning<Item extends string>(message: string, options: MessageOptions, ...items: Item[]): Thenable<Item | undefined> {
  return window.showWarningMessage(withoutLinks(message), { ...options, modal: true }, ...items);
}
