// The connection to the language server: one at a time, started and stopped in the order asked for.

import { EventEmitter, workspace, type Disposable, type LogOutputChannel } from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type ErrorHandler,
} from 'vscode-languageclient/node';
import { agentFiles } from '../agentFiles';
import { listsOfValues } from '../code/valueLists';
import { lensCommands, lensesWithoutArguments } from '../runs/feature';
import type { Search, Server } from './programs';
import { Restarts } from './restarts';
import type { ServerState } from './state';

/** What the server calls its progress while it reads agent files. */
const READING = 'axe-reading-';

export interface Host {
  /** What is told of the server goes here, and what it writes to standard error. */
  readonly log: LogOutputChannel;
  /** Called before each start. */
  search(): Promise<Search>;
  /** The environment of the server, asked for before each start. */
  environment(): Promise<NodeJS.ProcessEnv>;
  /** Called with each new client before it starts. */
  prepare(client: LanguageClient): void;
}

export class Connection implements Disposable {
  private client: LanguageClient | undefined;
  private server: Server | undefined;
  private lastStep: Promise<void> = Promise.resolve();
  private readonly changed = new EventEmitter<ServerState>();
  readonly onDidChangeState = this.changed.event;

  constructor(private readonly host: Host) {}

  /** The running client, started if need be; undefined when that fails, and then the user knows why. */
  async running(): Promise<LanguageClient | undefined> {
    await this.step(() => this.start());
    return this.client;
  }

  /** The program, after it has been started if need be. */
  async program(): Promise<Server | undefined> {
    return (await this.running()) && this.server;
  }

  /** Searches anew, too: what has been installed meanwhile is found. */
  restart(): Promise<void> {
    return this.step(async () => {
      await this.shutDown();
      await this.start();
    });
  }

  /** Restarts only if another server is found now than the one that was started: a restart ends runs. */
  searchAgain(): Promise<void> {
    return this.step(async () => {
      const search = await this.host.search();
      if ('server' in search && search.server.command !== this.server?.command) {
        await this.shutDown();
        await this.start();
      }
    });
  }

  stop(): Promise<void> {
    return this.step(async () => {
      await this.shutDown();
      this.changed.fire({ kind: 'stopped' });
    });
  }

  dispose(): void {
    this.changed.dispose();
  }

  /** Steps follow one another, so that a restart during a start can't leave two servers behind. */
  private step(action: () => Promise<void>): Promise<void> {
    this.lastStep = this.lastStep.then(action);
    return this.lastStep;
  }

  private async start(): Promise<void> {
    if (this.client && (await isUp(this.client))) {
      return;
    }
    this.changed.fire({ kind: 'searching' });
    const search = await this.host.search();
    if ('tried' in search) {
      this.host.log.warn(`no language server; tried: ${search.tried.join('; ')}`);
      this.changed.fire({ kind: 'missing', tried: search.tried });
      return;
    }
    await this.shutDown();
    await this.startServer(search.server);
  }

  private async startServer(server: Server): Promise<void> {
    this.server = server;
    this.host.log.info(`starting ${[server.command, ...server.args].join(' ')} (from ${server.source})`);
    const client: LanguageClient = newClient(server, await this.host.environment(), this.host.log, {
      onTooManyCrashes: () => this.changed.fire({ kind: 'crashed', server }),
      onReading: (isReading) => this.tellRunning(client, server, isReading),
    });
    this.follow(client, server);
    this.host.prepare(client);
    try {
      await client.start();
      this.client = client;
    } catch (error) {
      this.changed.fire({ kind: 'failed', server, reason: error instanceof Error ? error.message : String(error) });
      await client.dispose().catch(() => undefined);
    }
  }

  /** Also when the client starts it again after a crash. */
  private follow(client: LanguageClient, server: Server): void {
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Starting) {
        this.changed.fire({ kind: 'starting', server });
      } else if (newState === State.Running) {
        this.host.log.info(`axe-lsp ${versionOf(client)} is running`);
        this.tellRunning(client, server, false);
      }
    });
  }

  private tellRunning(client: LanguageClient, server: Server, isReading: boolean): void {
    this.changed.fire({ kind: 'running', server, version: versionOf(client), isReading });
  }

  /** A server that can't be asked to stop any more has stopped. */
  private async shutDown(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose().catch(() => undefined);
  }
}

/** Whether it runs, when it has ended what it is about: the client starts a server again that has crashed. */
async function isUp(client: LanguageClient): Promise<boolean> {
  if (client.state === State.Starting) {
    await client.start().catch(() => undefined);
  }
  return client.isRunning();
}

function versionOf(client: LanguageClient): string {
  return client.initializeResult?.serverInfo?.version ?? '';
}

interface Listener {
  onTooManyCrashes(): void;
  /** Whether agent files are being read; not called where that takes no time. */
  onReading(isReading: boolean): void;
}

function newClient(server: Server, env: NodeJS.ProcessEnv, log: LogOutputChannel, listener: Listener): LanguageClient {
  const client: LanguageClient = new LanguageClient(
    'axe',
    'axe-lsp',
    { command: server.command, args: [...server.args, '--stdio'], options: { env } },
    {
      documentSelector: agentFiles(),
      initializationOptions: { trusted: workspace.isTrusted },
      synchronize: { configurationSection: 'axe' },
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        executeCommand: lensCommands,
        provideCompletionItem: listsOfValues,
        provideCodeLenses: lensesWithoutArguments,
        handleWorkDoneProgress: (token, params, next) => {
          if (String(token).startsWith(READING)) {
            listener.onReading(params.kind !== 'end');
          }
          next(token, params);
        },
      },
      errorHandler: patience(() => client.initializeResult !== undefined, listener.onTooManyCrashes),
    },
  );
  return client;
}

/** A server that crashes is started again, unless it does so all the time or has never come up. */
function patience(hasBeenUp: () => boolean, onTooManyCrashes: () => void): ErrorHandler {
  const restarts = new Restarts();
  return {
    error: () => ({ action: ErrorAction.Continue, handled: true }),
    closed: () => {
      if (!hasBeenUp()) {
        return { action: CloseAction.DoNotRestart, handled: true };
      }
      if (restarts.allowAnother()) {
        return { action: CloseAction.Restart, handled: true, message: 'The language server has crashed. It is started again.' };
      }
      onTooManyCrashes();
      return { action: CloseAction.DoNotRestart, handled: true };
    },
  };
}
