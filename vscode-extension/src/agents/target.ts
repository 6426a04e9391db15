// Which agent a command is about: the row or file that a menu was opened on, else the file in the editor.

import { basename } from 'node:path';
import { commands, Uri, window } from 'vscode';
import { AGENT } from '../languages';
import { showInformation } from '../messages';
import type { Catalogue } from './catalogue';
import type { AgentRow } from './rows';

const BEGINNINGS: Readonly<Record<string, string>> = { 'New Agent…': 'axeLsp.newAgent', 'Copy the Demo…': 'axeLsp.copyDemo' };

/** Undefined when there is none, and then the user knows. */
export function targetFile(given: unknown): Uri | undefined {
  const file = given instanceof Uri ? given : isAgentRow(given) ? fileOf(given) : activeFile();
  if (!file) {
    void showInformation('Open an agent file first: a TOML file in axe/agents.');
  }
  return file;
}

/** Asks which one where no agent is in the editor, as before the page with the first steps. */
export async function agentFile(given: unknown, { agents }: Catalogue): Promise<Uri | undefined> {
  const items = agents.flatMap(({ name, uri, description }) => (uri === null ? [] : [{ label: name, description, file: Uri.parse(uri) }]));
  const inEditor = window.activeTextEditor?.document;
  const isAgent = inEditor?.languageId === AGENT || items.some(({ file }) => file.toString() === inEditor?.uri.toString());
  const mayBeAgent = items.length === 0 && inEditor?.fileName.endsWith('.toml');
  if (given !== undefined || isAgent || mayBeAgent) {
    return targetFile(given);
  }
  if (items.length === 0) {
    void offerFirstAgent();
    return undefined;
  }
  return (await window.showQuickPick(items, { placeHolder: 'Which agent?', matchOnDescription: true }))?.file;
}

/** Does not wait for whoever reads it. */
async function offerFirstAgent(): Promise<void> {
  const chosen = await showInformation('There are no agents yet. An agent is a TOML file in axe/agents.', ...Object.keys(BEGINNINGS));
  const command = chosen && BEGINNINGS[chosen];
  await (command && commands.executeCommand(command));
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
