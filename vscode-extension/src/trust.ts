// What is said where a workspace is not trusted: agents are checked there, and do not run.

import { commands, workspace } from 'vscode';
import { showWarning } from './messages';

export const NOT_TRUSTED = 'Agents do not run here: you have not trusted this workspace.';

/** The command with which VS Code shows what trust means, and asks for it. */
export const MANAGE_TRUST = 'workbench.trust.manage';

/** Does something that runs agents, or says why not. */
export function inTrust<Given extends unknown[]>(action: (...given: Given) => Promise<void>): (...given: Given) => Promise<void> {
  return async (...given) => {
    if (workspace.isTrusted) {
      await action(...given);
    } else {
      void showWarning(NOT_TRUSTED, 'Manage Trust').then((chosen) => chosen && commands.executeCommand(MANAGE_TRUST));
    }
  };
}
