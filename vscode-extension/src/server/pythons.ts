// Finds a Python that can run the server which comes with the extension. Knows nothing of VS Code.

import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { foldersOnPath, isProgram, type Surroundings } from './programs';

export interface Python {
  readonly path: string;
  /** Major and minor, such as "3.11". */
  readonly version: string;
}

export type PythonSearch = { readonly python: Python } | { readonly tried: readonly string[] };

export const OLDEST_PYTHON = '3.10';

/** The usual name comes first; the others are for machines whose usual one is too old. */
const NAMES = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];

const PATIENCE_MS = 10_000;

/** Paths of what may be a Python, the best first. `setting` is `axe.server.python`. */
export function pythonCandidates(around: Surroundings, setting: string): string[] {
  if (setting) {
    return [setting.replace(/^~(?=$|[\\/])/, homedir())];
  }
  const ending = around.platform === 'win32' ? '.exe' : '';
  const folders = foldersOnPath(around.environment);
  const found = NAMES.map((name) => folders.map((folder) => join(folder, name + ending)).find(isProgram));
  const selected = around.trusted ? around.selectedPython : undefined;
  return [...new Set([selected, ...found])].filter((path) => path !== undefined);
}

/** The first that says a version which is accepted. */
export async function findPython(
  candidates: readonly string[],
  accepts: (version: string) => boolean = isRecent,
): Promise<PythonSearch> {
  const tried: string[] = [];
  for (const path of candidates) {
    const version = await versionOf(path);
    if (version !== undefined && accepts(version)) {
      return { python: { path, version } };
    }
    tried.push(version === undefined ? `${path}, which does not run` : `${path}, which is ${version}`);
  }
  return { tried };
}

export function isRecent(version: string): boolean {
  return parts(version).reduce(asNumber) >= parts(OLDEST_PYTHON).reduce(asNumber);
}

/** Isolated, so that nothing of the workspace is imported. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const question = 'import sys; print("%d.%d" % sys.version_info[:2])';
    const { stdout } = await promisify(execFile)(path, ['-I', '-c', question], { timeout: PATIENCE_MS, windowsHide: true });
    return /^\d+\.\d+$/.test(stdout.trim()) ? stdout.trim() : undefined;
  } catch {
    return undefined;
  }
}

function parts(version: string): number[] {
  return version.split('.').map(Number);
}

function asNumber(major: number, minor: number): number {
  return major * 1000 + minor;
}
