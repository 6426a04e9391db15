// Which agent a command is about: the row or file that a menu was opened on, else the file in the editor.

import { basename } from 'node:path';
import { Uri, window } from 'vscode';
import type { AgentRow } from './rows';

/** Undefined when there is none, and then the user knows. */
export function targetFile(given: unknown): Uri | undefined {
  const file = given instanceof Uri ? given : isAgentRow(given) ? fileOf(given) : activeFile();
  if (!file) {
    void window.showInformationMessage('Open an agent file first: a TOML file in axe/agents.');
  }
  return file;
}

export function agentName(file: Uri): string {
  return basename(file.path, '.toml');
}

/** An agent file that nobody can read is in no editor, but maybe in a tab that is no text. */
function activeFile(): Uri | undefined {
  return window.activeTextEditor?.document.uri;
}

function fileOf({ agent }: AgentRow): Uri | undefined {
  return agent.uri === null ? undefined : Uri.parse(agent.uri);
}

function isAgentRow(given: unknown): given is AgentRow {
  return typeof given === 'object' && given !== null && 'agent' in given;
}
