// How the parts of the extension register their commands.

import type { Disposable } from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';

/** Registers a command that needs the server, and tells the user when it fails. */
export type Register = (
  name: string,
  action: (client: LanguageClient, ...given: unknown[]) => Promise<void>,
) => Disposable;
