// Tells that something has failed, with buttons for what helps.

import { commands, Position, Range, Uri, ViewColumn, window, workspace } from 'vscode';
import { ErrorCodes, LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';
import { remediesOf, type Remedy } from './failures';
import { showError } from './messages';

const LABELS: Readonly<Record<Remedy['kind'], string>> = {
  key: 'Set API Key…',
  settings: 'Open config.toml',
  place: 'Show Error',
  problems: 'Show Problems',
  run: 'Show Run',
  log: 'Show Log',
};

/** Milliseconds in which failures have one cause: all that was asked of a server ends with it. */
const AT_ONCE = 1000;
let toldOfEnd = -Infinity;

/** Whether nobody has told yet that the server has ended; whoever asks tells it. */
export function isFirstToTellOfEnd(): boolean {
  const before = toldOfEnd;
  toldOfEnd = Date.now();
  return toldOfEnd - before > AT_ONCE;
}

/** Does not wait for whoever reads it. */
export function reportFailure(error: unknown): void {
  void report(error);
}

/** Whoever cancelled a run knows that it has not ended well. */
async function report(error: unknown): Promise<void> {
  const { code, data } = error instanceof ResponseError ? error : {};
  if (code === LSPErrorCodes.RequestCancelled) {
    return;
  }
  const hasStopped = code === ErrorCodes.PendingResponseRejected;
  if (hasStopped && !isFirstToTellOfEnd()) {
    return;
  }
  const end = workspace.getConfiguration('axe').get('run.onWindowClose') === 'stop' ? ' Its runs have ended.' : '';
  const message = hasStopped ? `The axe language server has stopped.${end} It is starting again.` : error instanceof Error ? error.message : String(error);
  const remedies: readonly Remedy[] = hasStopped ? [{ kind: 'log' }] : remediesOf({ message, code, data });
  const chosen = await showError(message, ...remedies.map(({ kind }) => LABELS[kind]));
  const remedy = remedies.find(({ kind }) => LABELS[kind] === chosen);
  await (remedy && apply(remedy));
}

async function apply(remedy: Remedy): Promise<void> {
  switch (remedy.kind) {
    case 'key':
      return commands.executeCommand('axeLsp.setApiKey', remedy.variable);
    case 'settings':
      return commands.executeCommand('axeLsp.openConfig');
    case 'problems':
      return commands.executeCommand('workbench.actions.view.problems');
    case 'run':
      return commands.executeCommand('axeLsp.showRunPage', remedy.runId);
    case 'log':
      return commands.executeCommand('axeLsp.showServerLog');
    case 'place': {
      const start = new Position(remedy.line - 1, remedy.column - 1);
      const uri = Uri.file(remedy.path);
      const shown = window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
      await window.showTextDocument(uri, { viewColumn: shown?.viewColumn ?? ViewColumn.Active, selection: new Range(start, start) });
    }
  }
}
