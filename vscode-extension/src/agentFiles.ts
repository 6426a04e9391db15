// Which documents are the server's, in the terms of a document selector.

import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { Uri, workspace } from 'vscode';
import type { DocumentSelector } from 'vscode-languageclient/node';

/** A folder's files are agents whatever language another extension has given them. */
export function agentFiles(): DocumentSelector {
  return [
    { scheme: 'file', language: 'axe-agent' },
    { scheme: 'untitled', language: 'axe-agent' },
    { scheme: 'file', pattern: '**/axe/agents/*.toml' },
    { scheme: 'file', pattern: '**/.axe/agents/*.toml' },
    { scheme: 'file', language: 'axe-config' },
    { scheme: 'file', pattern: '**/axe/config.toml' }, // The server knows which one is the user's.
    { scheme: 'file', pattern: '**/SKILL.md' }, // For the agents that use it.
    ...furtherFolders().map((folder) => ({
      scheme: 'file',
      pattern: { baseUri: Uri.file(folder).toString(), pattern: '*.toml' },
    })),
  ];
}

/** Whether its folder makes an agent of a TOML file. */
export function isInAgentFolder(file: Uri): boolean {
  const folder = dirname(file.fsPath);
  return /[\\/]\.?axe[\\/]agents$/.test(folder) || furtherFolders().some((further) => resolve(further) === folder);
}

/** Whether some agent of the workspace lies in a folder of agents. */
export async function hasAgents(): Promise<boolean> {
  return furtherFolders().length > 0 || (await workspace.findFiles('**/{axe,.axe}/agents/*.toml', undefined, 1)).length > 0;
}

/** The setting `axe.agentPaths`, as the server reads it. */
function furtherFolders(): string[] {
  const roots = (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return workspace
    .getConfiguration('axe')
    .get<string[]>('agentPaths', [])
    .map((path) => path.replace(/^~(?=$|[\\/])/, homedir()))
    .flatMap((path) => (isAbsolute(path) ? [path] : roots.map((root) => join(root, path))));
}
