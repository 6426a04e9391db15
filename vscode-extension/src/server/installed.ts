// Installs the language server into an environment of the extension's own, when the user says so. Nothing is downloaded
// without that.

import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ProgressLocation, window, type CancellationToken, type ExtensionContext, type LogOutputChannel } from 'vscode';
import { showError } from '../messages';
import { wheelIn } from './bundle';
import { programIn } from './programs';
import { OLDEST_PYTHON, type PythonSearch } from './pythons';

/** Where it is after it has been installed. */
export function installedProgram(context: ExtensionContext): string {
  return programIn(environmentOf(context), process.platform);
}

/** Asks what to install, and does it; true when there is a new server. Failures are told here. */
export async function installServer(
  context: ExtensionContext,
  log: LogOutputChannel,
  search: PythonSearch,
): Promise<boolean> {
  if ('tried' in search) {
    const seen = search.tried.length > 0 ? ` Found: ${search.tried.join(', ')}.` : '';
    void showError(
      `The axe language server needs Python ${OLDEST_PYTHON} or newer.${seen} Install one, or set axe.server.python.`,
    );
    return false;
  }
  const source = await askSource(context);
  return source !== undefined && install(context, log, search.python.path, source);
}

async function askSource(context: ExtensionContext): Promise<string | undefined> {
  const wheel = wheelIn(context.extensionPath);
  const comes = { label: 'The version that comes with this extension', detail: 'pip gets what it needs from your package index.' };
  const folder = { label: 'A clone of axe-lsp…', detail: 'A folder with its pyproject.toml.' };
  const file = { label: 'A wheel…', detail: 'A file axe_lsp-….whl.' };
  const picked = await window.showQuickPick([...(wheel ? [comes] : []), folder, file], {
    title: 'Install the axe Language Server',
    placeHolder: 'Into the extension’s own environment. Select the source.',
  });
  if (!picked || picked === comes) {
    return picked && wheel;
  }
  const chosen = await window.showOpenDialog({
    canSelectFolders: picked === folder,
    canSelectFiles: picked === file,
    openLabel: 'Install',
    ...(picked === file ? { filters: { Wheels: ['whl'] } } : {}),
  });
  return chosen?.[0]?.fsPath;
}

async function install(
  context: ExtensionContext,
  log: LogOutputChannel,
  python: string,
  source: string,
): Promise<boolean> {
  const title = 'Installing the axe language server';
  const options = { location: ProgressLocation.Notification, title, cancellable: true };
  const environment = environmentOf(context);
  try {
    await mkdir(context.globalStorageUri.fsPath, { recursive: true });
    await window.withProgress(options, async (progress, token) => {
      const step = stepper(log, context.globalStorageUri.fsPath, token);
      progress.report({ message: 'making an environment' });
      await step(python, ['-I', '-m', 'venv', '--clear', environment]);
      progress.report({ message: `installing ${source}` });
      await step(programInside(environment), ['-I', '-m', 'pip', 'install', '--disable-pip-version-check', `${source}[mcp]`]);
    });
    return true;
  } catch (error) {
    await rm(environment, { recursive: true, force: true });
    await tellFailure(log, error);
    return false;
  }
}

type Step = (program: string, args: readonly string[]) => Promise<void>;

/** What a step says goes to the log, also when it fails. */
function stepper(log: LogOutputChannel, cwd: string, token: CancellationToken): Step {
  return (program, args) =>
    new Promise((resolve, reject) => {
      log.info([program, ...args].join(' '));
      const child = execFile(program, args, { cwd, windowsHide: true, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
        log.info(stdout + stderr);
        if (error) {
          reject(token.isCancellationRequested ? new Cancelled() : new Error(lastLine(stdout + stderr) ?? error.message));
        } else {
          resolve();
        }
      });
      token.onCancellationRequested(() => child.kill());
    });
}

class Cancelled extends Error {}

async function tellFailure(log: LogOutputChannel, error: unknown): Promise<void> {
  if (error instanceof Cancelled) {
    return;
  }
  const showLog = 'Show Log';
  const message = `The axe language server could not be installed: ${error instanceof Error ? error.message : error}`;
  if ((await showError(message, showLog)) === showLog) {
    log.show();
  }
}

function lastLine(said: string): string | undefined {
  return said.trim().split('\n').at(-1) || undefined;
}

function environmentOf(context: ExtensionContext): string {
  return join(context.globalStorageUri.fsPath, 'server');
}

function programInside(environment: string): string {
  return process.platform === 'win32' ? join(environment, 'Scripts', 'python.exe') : join(environment, 'bin', 'python');
}
