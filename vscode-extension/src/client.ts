// The connection to the language server: one at a time, started and stopped in the order asked for.

import { homedir } from 'node:os';
import { commands, window, workspace } from 'vscode';
import { LanguageClient, RevealOutputChannelOn } from 'vscode-languageclient/node';
import { agentFiles } from './agentFiles';
import { findServer, notFoundMessage, type Search } from './server';

export class Connection {
  private client: LanguageClient | undefined;
  private lastStep: Promise<void> = Promise.resolve();

  /** `prepare` is called with each new client before it starts. */
  constructor(private readonly prepare: (client: LanguageClient) => void) {}

  /** The running client, started if need be; undefined when that fails, and then the user knows why. */
  async running(): Promise<LanguageClient | undefined> {
    await this.step(() => this.start());
    return this.client;
  }

  restart(): Promise<void> {
    return this.step(async () => {
      await this.shutDown();
      await this.start();
    });
  }

  stop(): Promise<void> {
    return this.step(() => this.shutDown());
  }

  /** Steps follow one another, so that a restart during a start can't leave two servers behind. */
  private step(action: () => Promise<void>): Promise<void> {
    this.lastStep = this.lastStep.then(action);
    return this.lastStep;
  }

  private async start(): Promise<void> {
    if (this.client?.isRunning()) {
      return;
    }
    const search = searchServer();
    if ('tried' in search) {
      void reportMissing(search.tried);
      return;
    }
    await this.shutDown();
    const client = newClient(search.command);
    this.prepare(client);
    try {
      await client.start();
      this.client = client;
    } catch (error) {
      void window.showErrorMessage(`The axe language server ${search.command} did not start: ${String(error)}`);
      await client.dispose().catch(() => undefined);
    }
  }

  /** A server that can't be asked to stop any more has stopped. */
  private async shutDown(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose().catch(() => undefined);
  }
}

function searchServer(): Search {
  return findServer({
    setting: workspace.getConfiguration('axe').get('server.path', '').trim(),
    folders: (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    trusted: workspace.isTrusted,
    home: homedir(),
    environment: process.env,
    platform: process.platform,
  });
}

function newClient(command: string): LanguageClient {
  return new LanguageClient(
    'axe',
    'axe-lsp',
    { command, args: ['--stdio'] },
    {
      documentSelector: agentFiles(),
      initializationOptions: { trusted: workspace.isTrusted },
      synchronize: { configurationSection: 'axe' },
      revealOutputChannelOn: RevealOutputChannelOn.Never,
    },
  );
}

async function reportMissing(tried: readonly string[]): Promise<void> {
  const openSettings = 'Open Settings';
  const chosen = await window.showErrorMessage(notFoundMessage(tried), openSettings);
  if (chosen === openSettings) {
    await commands.executeCommand('workbench.action.openSettings', 'axe.server.path');
  }
}
