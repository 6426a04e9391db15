// The Agents view: a tree that follows the catalogue, and the problems that are known of each file.

import {
  EventEmitter,
  languages,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
  workspace,
  type Disposable,
  type TreeDataProvider,
  type TreeView,
} from 'vscode';
import { NOT_TRUSTED } from '../trust';
import type { Catalogue } from './catalogue';
import { problemsOf } from './problems';
import { descriptionOf, groupsOf, problemsText, spokenRow, type AgentRow, type GroupRow, type Problems } from './rows';

export type Row = GroupRow | AgentRow;

const NO_PROBLEMS: Problems = { errors: 0, warnings: 0 };

export class AgentsView implements TreeDataProvider<Row>, Disposable {
  private groups: readonly GroupRow[] = [];
  private readonly changed = new EventEmitter<Row[] | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly tree: TreeView<Row>;
  private readonly listeners: Disposable[];

  constructor(private readonly catalogue: Catalogue) {
    this.listeners = [
      catalogue.onDidChange(() => this.rebuild()),
      workspace.onDidChangeWorkspaceFolders(() => this.rebuild()),
      languages.onDidChangeDiagnostics(({ uris }) => this.refresh(uris)),
      window.onDidChangeActiveTextEditor(() => this.revealActive()),
      workspace.onDidGrantWorkspaceTrust(() => this.tellTrust()),
    ];
    this.tree = window.createTreeView('axeLsp.agents', { treeDataProvider: this, showCollapseAll: true });
    this.tree.onDidChangeVisibility(() => this.revealActive());
    this.tellTrust();
  }

  get isVisible(): boolean {
    return this.tree.visible;
  }

  getChildren(row?: Row): Row[] {
    return row === undefined ? [...this.groups] : row.kind === 'group' ? [...row.agents] : [];
  }

  getParent(row: Row): GroupRow | undefined {
    return row.kind === 'agent' ? this.groups.find(({ id }) => id === row.group) : undefined;
  }

  getTreeItem(row: Row): TreeItem {
    return row.kind === 'group' ? groupItem(row) : agentItem(row);
  }

  dispose(): void {
    this.listeners.forEach((listener) => listener.dispose());
    this.tree.dispose();
    this.changed.dispose();
  }

  private rebuild(): void {
    const folders = (workspace.workspaceFolders ?? []).map(({ name, uri }) => ({ name, uri: uri.toString() }));
    const agents = this.catalogue.agents.map((agent) => ({ ...agent, uri: agent.uri && Uri.parse(agent.uri).toString() }));
    this.groups = groupsOf(agents, folders);
    this.changed.fire(undefined);
    this.tellTrust();
    this.revealActive();
  }

  /** Above agents alone: a view with a message does not show what helps where there are none. */
  private tellTrust(): void {
    this.tree.message = workspace.isTrusted || this.groups.length === 0 ? '' : NOT_TRUSTED;
  }

  /** What is shown of these files has changed, but for where they stand. */
  private refresh(uris: readonly Uri[]): void {
    const names = new Set(uris.map(String));
    const rows = this.groups.flatMap(({ agents }) => agents).filter(({ id }) => names.has(id));
    if (rows.length > 0) {
      this.changed.fire(rows);
    }
  }

  /** The agent in the editor is the one that is picked out, as in the explorer. */
  private revealActive(): void {
    const uri = window.activeTextEditor?.document.uri.toString();
    const row = this.groups.flatMap(({ agents }) => agents).find(({ id }) => id === uri);
    if (row && this.tree.visible) {
      void this.tree.reveal(row, { select: true, focus: false });
    }
  }
}

function groupItem({ id, label, icon, isOpen, agents }: GroupRow): TreeItem {
  const item = new TreeItem(label, isOpen ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed);
  item.id = id;
  item.iconPath = new ThemeIcon(icon);
  item.description = String(agents.length);
  item.contextValue = 'group';
  item.accessibilityInformation = { label: `${label}, ${agents.length} agents` };
  return item;
}

function agentItem({ id, agent }: AgentRow): TreeItem {
  const item = new TreeItem(agent.name);
  const uri = agent.uri === null ? undefined : Uri.parse(agent.uri);
  const problems = uri ? problemsOf(uri) : NO_PROBLEMS;
  item.id = id;
  item.iconPath = icon(problems);
  item.description = descriptionOf(agent);
  item.contextValue = uri ? 'agent' : 'builtin';
  item.accessibilityInformation = { label: spokenRow(agent, problems) };
  item.tooltip = tooltip(agent.name, agent.description, problems, uri);
  if (uri) {
    item.resourceUri = uri; // For the colours and badges that files have everywhere.
    item.command = { command: 'vscode.open', title: 'Open', arguments: [uri] };
  }
  return item;
}

function icon({ errors, warnings }: Problems): ThemeIcon {
  if (errors > 0) {
    return new ThemeIcon('error', new ThemeColor('list.errorForeground'));
  }
  return warnings > 0 ? new ThemeIcon('warning', new ThemeColor('list.warningForeground')) : new ThemeIcon('hubot');
}

function tooltip(name: string, description: string, problems: Problems, uri: Uri | undefined): MarkdownString {
  const text = new MarkdownString();
  const lines = [name, description, problemsText(problems), uri ? workspace.asRelativePath(uri) : 'A built-in type without a file.'];
  lines.filter(Boolean).forEach((line) => text.appendText(line).appendMarkdown('\n\n'));
  return text;
}
