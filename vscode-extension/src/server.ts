// Finds the language server's program. Knows nothing of VS Code, and starts nothing.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

export interface Surroundings {
  /** The setting `axe.server.path`; empty when the user has not set it. */
  readonly setting: string;
  readonly folders: readonly string[];
  /** What lies in an untrusted workspace is not started. */
  readonly trusted: boolean;
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

export type Search = { readonly command: string } | { readonly tried: readonly string[] };

export function findServer(around: Surroundings): Search {
  if (around.setting) {
    const path = expand(around.setting, around);
    return isProgram(path) ? { command: path } : { tried: [`${path} (the setting axe.server.path)`] };
  }
  const candidates = [...inVirtualEnvironments(around), ...onPath(around)];
  const command = candidates.find(isProgram);
  return command ? { command } : { tried: describe(around) };
}

/** For a person: where the server was looked for and what to do now. */
export function notFoundMessage(tried: readonly string[]): string {
  return (
    `The axe language server was not found. Tried: ${tried.join('; ')}. ` +
    'Install it from a clone of axe-lsp with "pipx install CLONE" or "uv tool install CLONE", ' +
    'or set axe.server.path to a program such as CLONE/.venv/bin/axe-lsp.'
  );
}

function describe(around: Surroundings): string[] {
  const tried = inVirtualEnvironments(around);
  if (!around.trusted && around.folders.length > 0) {
    tried.push('not the .venv of this workspace, because you have not trusted it');
  }
  return [...tried, `${programName(around)} on PATH`];
}

function inVirtualEnvironments(around: Surroundings): string[] {
  const programs = around.platform === 'win32' ? 'Scripts' : 'bin';
  const folders = around.trusted ? around.folders : [];
  return folders.map((folder) => join(folder, '.venv', programs, programName(around)));
}

/** Relative entries of PATH mean the workspace, whose programs nobody has asked for. */
function onPath(around: Surroundings): string[] {
  const entries = (around.environment['PATH'] ?? around.environment['Path'] ?? '').split(delimiter);
  return entries.filter((entry) => isAbsolute(entry)).map((entry) => join(entry, programName(around)));
}

function programName(around: Surroundings): string {
  return around.platform === 'win32' ? 'axe-lsp.exe' : 'axe-lsp';
}

function expand(setting: string, around: Surroundings): string {
  const folder = around.folders[0] ?? around.home;
  const expanded = setting.replaceAll('${workspaceFolder}', folder).replace(/^~(?=$|[\\/])/, around.home);
  return resolve(folder, expanded);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
