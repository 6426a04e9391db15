// The rows of the Agents view: agents below where they come from. Knows nothing of VS Code.

import type { Agent } from './protocol';

/** How many there are of what is worse than a hint. */
export interface Problems {
  readonly errors: number;
  readonly warnings: number;
}

export interface Folder {
  readonly name: string;
  readonly uri: string;
}

export interface GroupRow {
  readonly kind: 'group';
  readonly id: string;
  readonly label: string;
  readonly icon: string;
  readonly isOpen: boolean;
  readonly agents: readonly AgentRow[];
}

export interface AgentRow {
  readonly kind: 'agent';
  readonly id: string;
  readonly group: string;
  readonly agent: Agent;
}

/**
 * Groups that have agents: each folder of the workspace, further folders, the user's own, the built-in types. Where
 * nobody could call these, there are none.
 */
export function groupsOf(agents: readonly Agent[], folders: readonly Folder[]): GroupRow[] {
  const groups = [
    ...folders.map(({ name, uri }) => group(`folder ${uri}`, name, 'root-folder')),
    group('further', 'Further folders', 'folder-library'),
    group('user', 'Your own', 'account'),
    group('builtin', 'Built in', 'package', false),
  ];
  const rows = new Map(groups.map(({ id }) => [id, [] as AgentRow[]]));
  for (const agent of agents) {
    const id = groupOf(agent, folders);
    rows.get(id)?.push({ kind: 'agent', id: agent.uri ?? `builtin ${agent.name}`, group: id, agent });
  }
  const shown = groups.map((each) => ({ ...each, agents: rows.get(each.id) ?? [] })).filter((each) => each.agents.length > 0);
  return shown.some(({ id }) => id !== 'builtin') ? shown : [];
}

/** What stands behind the name of an agent. */
export function descriptionOf({ model, description }: Agent): string {
  return [model, description].filter(Boolean).join(' · ');
}

/** The whole row in words, for screen readers. */
export function spokenRow({ name, model, description }: Agent, problems: Problems): string {
  return [name, problemsText(problems), model, description].filter(Boolean).join(', ');
}

export function problemsText({ errors, warnings }: Problems): string {
  return [count(errors, 'error'), count(warnings, 'warning')].filter(Boolean).join(', ');
}

function count(number: number, word: string): string {
  return number === 0 ? '' : `${number} ${word}${number === 1 ? '' : 's'}`;
}

function group(id: string, label: string, icon: string, isOpen = true): Omit<GroupRow, 'agents'> {
  return { kind: 'group', id, label, icon, isOpen };
}

/** The innermost folder of the workspace counts. */
function groupOf({ scope, uri }: Agent, folders: readonly Folder[]): string {
  if (scope !== 'workspace' || uri === null) {
    return scope;
  }
  const around = folders.filter((folder) => uri.startsWith(`${folder.uri}/`));
  const innermost = around.sort((one, other) => other.uri.length - one.uri.length)[0];
  return innermost ? `folder ${innermost.uri}` : 'further';
}
