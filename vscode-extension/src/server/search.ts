// Looks for the language server wherever it may be: the user's choice, the workspace's environments, PATH, what comes
// with the extension, and what the extension has installed.

import { homedir } from 'node:os';
import { workspace, type ExtensionContext } from 'vscode';
import { bundledServer, bundleIn } from './bundle';
import { installedProgram } from './installed';
import { findProgram, isProgram, type Search, type Surroundings } from './programs';
import { findPython, OLDEST_PYTHON, pythonCandidates, type PythonSearch } from './pythons';
import { selectedPython } from './selectedPython';

export async function searchServer(context: ExtensionContext): Promise<Search> {
  const around = await surroundings();
  const search = findProgram(around);
  if ('server' in search || around.setting) {
    return search;
  }
  const bundled = await searchBundled(context, around);
  if ('server' in bundled) {
    return bundled;
  }
  const own = installedProgram(context);
  if (isProgram(own)) {
    return { server: { command: own, args: [], source: 'what the extension has installed' } };
  }
  return { tried: [...search.tried, ...bundled.tried] };
}

/** A Python in which the server can be installed. */
export async function searchPython(): Promise<PythonSearch> {
  return findPython(pythonCandidates(await surroundings(), pythonSetting()));
}

async function surroundings(): Promise<Surroundings> {
  const setting = workspace.getConfiguration('axe').get('server.path', '').trim();
  return {
    setting,
    folders: (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    trusted: workspace.isTrusted,
    selectedPython: setting || !workspace.isTrusted ? undefined : await selectedPython(),
    home: homedir(),
    environment: process.env,
    platform: process.platform,
  };
}

async function searchBundled(context: ExtensionContext, around: Surroundings): Promise<Search> {
  const bundle = bundleIn(context.extensionPath);
  if (!bundle) {
    return { tried: [] };
  }
  const search = await findPython(pythonCandidates(around, pythonSetting()), (version) => bundle.accepts(version));
  if ('python' in search) {
    return { server: bundledServer(bundle, search.python) };
  }
  const pythons = search.tried.length > 0 ? search.tried.join(', ') : 'there is none on PATH';
  return { tried: [`the server in the extension, which needs Python ${OLDEST_PYTHON} or newer: ${pythons}`] };
}

function pythonSetting(): string {
  return workspace.getConfiguration('axe').get('server.python', '').trim();
}
