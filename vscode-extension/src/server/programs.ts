// Finds a program of the language server on this machine. Knows nothing of VS Code, and starts nothing.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';

export interface Surroundings {
  /** The setting `axe.server.path`; empty when the user has not set it. */
  readonly setting: string;
  readonly folders: readonly string[];
  /** What lies in an untrusted workspace is not started. */
  readonly trusted: boolean;
  /** The Python that the user has selected for the workspace, if they have. */
  readonly selectedPython: string | undefined;
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

/** What is started, and in the words of a person where it comes from. */
export interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly source: string;
}

export type Search = { readonly server: Server } | { readonly tried: readonly string[] };

interface Candidate {
  readonly path: string;
  readonly source: string;
}

export function findProgram(around: Surroundings): Search {
  if (around.setting) {
    const source = 'the setting axe.server.path';
    const path = expand(around.setting, around);
    return isProgram(path) ? { server: { command: path, args: [], source } } : { tried: [`${path} (${source})`] };
  }
  const found = [...inEnvironments(around), ...onPath(around)].find(({ path }) => isProgram(path));
  return found
    ? { server: { command: found.path, args: [], source: found.source } }
    : { tried: describe(around) };
}

/** The program in a virtual environment, which need not be there. */
export function programIn(environment: string, platform: NodeJS.Platform): string {
  return join(environment, platform === 'win32' ? 'Scripts' : 'bin', programName(platform));
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Relative entries of PATH mean the workspace, whose programs nobody has asked for. */
export function foldersOnPath(environment: NodeJS.ProcessEnv): string[] {
  const entries = (environment['PATH'] ?? environment['Path'] ?? '').split(delimiter);
  return entries.filter((entry) => isAbsolute(entry));
}

function describe(around: Surroundings): string[] {
  const tried = inEnvironments(around).map(({ path }) => path);
  if (!around.trusted && around.folders.length > 0) {
    tried.push('not the Python environments of this workspace, because you have not trusted it');
  }
  return [...tried, `${programName(around.platform)} on PATH`];
}

function inEnvironments(around: Surroundings): Candidate[] {
  if (!around.trusted) {
    return [];
  }
  const own = around.folders.map((folder) => ({
    path: programIn(join(folder, '.venv'), around.platform),
    source: 'the .venv of the workspace',
  }));
  return around.selectedPython ? [...own, besidePython(around.selectedPython, around.platform)] : own;
}

function besidePython(python: string, platform: NodeJS.Platform): Candidate {
  return { path: join(dirname(python), programName(platform)), source: 'the selected Python environment' };
}

function onPath(around: Surroundings): Candidate[] {
  const name = programName(around.platform);
  return foldersOnPath(around.environment).map((folder) => ({ path: join(folder, name), source: 'PATH' }));
}

function programName(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'axe-lsp.exe' : 'axe-lsp';
}

function expand(setting: string, around: Surroundings): string {
  const folder = around.folders[0] ?? around.home;
  const expanded = setting.replaceAll('${workspaceFolder}', folder).replace(/^~(?=$|[\\/])/, around.home);
  return resolve(folder, expanded);
}
