// Which documents are the server's, in the terms of a document selector.

import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { languages, Uri, workspace, type DocumentFilter, type TextDocument } from 'vscode';
import type { DocumentSelector } from 'vscode-languageclient/node';

/** Where agents of axe, Codex and Mistral Vibe lie. The same as in the table of dialects of the server. */
const AGENT_FILES = [
  '**/axe/agents/*.toml',
  '**/.axe/agents/*.toml',
  '**/.codex/agents/**/*.toml',
  '**/.vibe/agents/*.toml',
];

/** Tests of agents, and settings. They keep their language. */
const SETTINGS_FILES = [
  '**/axe/tests/*.toml',
  '**/.axe/tests/*.toml',
  '**/.codex/config.toml',
  '**/.vibe/config.toml',
  '**/.gemini/commands/**/*.toml',
];

/** Agents in Markdown of Claude Code, Copilot, opencode, Gemini CLI, Cursor and Kiro, and opencode's commands. They keep their language. */
const MARKDOWN_FILES = [
  '**/.claude/agents/**/*.md',
  '**/.github/agents/**/*.md',
  '**/.opencode/agent/**/*.md',
  '**/.opencode/agents/**/*.md',
  '**/.opencode/mode/**/*.md',
  '**/.opencode/modes/**/*.md',
  '**/.gemini/agents/*.md',
  '**/.opencode/command/**/*.md',
  '**/.opencode/commands/**/*.md',
  '**/.cursor/agents/*.md',
  '**/.kiro/agents/*.md',
  '**/.copilot/agents/**/*.md',
  '**/.config/opencode/agent/**/*.md',
  '**/.config/opencode/agents/**/*.md',
  '**/.config/opencode/mode/**/*.md',
  '**/.config/opencode/modes/**/*.md',
  '**/.config/opencode/command/**/*.md',
  '**/.config/opencode/commands/**/*.md',
];

/** A folder's files are agents whatever language another extension has given them. */
export function agentFiles(): DocumentSelector {
  return [
    { scheme: 'file', language: 'axe-agent' },
    { scheme: 'untitled', language: 'axe-agent' },
    ...[...AGENT_FILES, ...SETTINGS_FILES, ...MARKDOWN_FILES].map((pattern) => ({ scheme: 'file', pattern })),
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
export function isInAgentFolder(document: TextDocument): boolean {
  const folder = dirname(document.uri.fsPath);
  return isOneOf(AGENT_FILES, document) || furtherFolders().some((further) => resolve(further) === folder);
}

/** Whether the document is served by its place, in its own language: tests, settings, or an agent in Markdown. */
export function isServedByPlace(document: TextDocument): boolean {
  return isOneOf([...SETTINGS_FILES, ...MARKDOWN_FILES], document);
}

export function isTests(document: TextDocument): boolean {
  return isOneOf(SETTINGS_FILES.filter((pattern) => pattern.includes('/tests/')), document);
}

function isOneOf(patterns: readonly string[], document: TextDocument): boolean {
  const filters: DocumentFilter[] = patterns.map((pattern) => ({ scheme: 'file', pattern }));
  return languages.match(filters, document) > 0;
}

/** Whether some agent of the workspace lies in a folder of agents. */
export async function hasAgents(): Promise<boolean> {
  const patterns = [...AGENT_FILES, ...MARKDOWN_FILES];
  return furtherFolders().length > 0 || (await workspace.findFiles(`{${patterns.join(',')}}`, undefined, 1)).length > 0;
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
