// The changes of a run in VS Code's editors of differences, whose titles have a button that undoes them. The documents are asked of
// the server, so that they are also there when the window is loaded anew.

import { basename } from 'node:path';
import { commands, EventEmitter, TabInputWebview, Uri, ViewColumn, window, type Disposable, type TextDocumentContentProvider } from 'vscode';
import { showInformation } from '../messages';
import type { ChangesOf, EditedFile, RunEdits } from '../protocol';
import type { RunNode } from './nodes';

export const EDITS_SCHEME = 'axe-edits';

/** The context in which the editor in front shows all changes of a run or a turn. */
const REVIEWING = 'axeLsp.reviewing';

const SIDES = ['before', 'after'] as const;

/** What a user looks at, or undoes: the changes of a run, of a turn, of a turn and those after it, or of a file in one of them. */
export interface Edited {
  readonly run: RunNode;
  readonly turn?: number | undefined;
  readonly fromTurn?: number | undefined;
  /** As the server names it. */
  readonly file?: string | undefined;
}

/** What the address of a document says. */
interface Address extends ChangesOf {
  readonly rootRunId: string;
  readonly file: string;
  readonly side: (typeof SIDES)[number];
}

export class Reviews implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;
  /** Documents that were shown. */
  private readonly shown = new Map<string, Uri>();
  /** What editors with several files show, by their titles. */
  private readonly several = new Map<string, Edited>();
  private readonly subscriptions: Disposable[];

  constructor(
    private readonly request: (of: ChangesOf, texts: boolean) => Promise<RunEdits>,
    private readonly find: (rootRunId: string, runId: string) => Promise<RunNode | undefined>,
  ) {
    this.subscriptions = [window.tabGroups.onDidChangeTabs(() => this.offerUndo()), window.tabGroups.onDidChangeTabGroups(() => this.offerUndo())];
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    this.shown.set(uri.toString(), uri);
    const { side, file, rootRunId: _, ...changes } = addressIn(uri);
    const { files } = await this.request(changes, true);
    return files.find(({ path }) => path === file)?.[side] ?? '';
  }

  /** Shows differences in the group that is in front; if that has a page beside other editors, in the first one, which has more room. */
  async show(edited: Edited): Promise<void> {
    const { run, file } = edited;
    const { files } = await this.request(of(edited), true);
    const wanted = files.filter(({ path }) => file === undefined || path === file);
    const [first, ...others] = wanted.filter(isComparable);
    const left = wanted.filter((each) => !isComparable(each)).map(({ path }) => basename(path));
    if (left.length > 0 || !first) {
      const what = left.length > 0 ? `The differences in ${left.join(', ')} can't be shown: too large, or changed by others.` : 'There are no differences to show any more.';
      void showInformation(what);
    }
    const when = turnsInWords(edited);
    const { activeTab, viewColumn } = window.tabGroups.activeTabGroup;
    if (first && activeTab?.input instanceof TabInputWebview && viewColumn !== ViewColumn.One) {
      await commands.executeCommand('workbench.action.focusFirstEditorGroup');
    }
    if (first && others.length === 0) {
      await commands.executeCommand('vscode.diff', ...sidesOf(edited, first), `${basename(first.path)}: ${run.agent}${when}`, { preview: true });
    } else if (first) {
      const title = `Changes of ${run.agent}${when} (${run.runId.slice(0, 8)})`;
      this.several.set(title, edited);
      await commands.executeCommand('vscode.changes', title, [first, ...others].map((each) => [Uri.file(each.path), ...sidesOf(edited, each)]));
      this.offerUndo();
    }
  }

  /** What the editor shows whose title was pressed. */
  async editedIn(document: unknown): Promise<Edited | undefined> {
    if (!(document instanceof Uri) || document.scheme !== EDITS_SCHEME) {
      return this.inFront();
    }
    const { rootRunId, runId, turn, fromTurn, file } = addressIn(document);
    const run = await this.find(rootRunId, runId);
    return run && { run, turn, fromTurn, file };
  }

  /** The files of a tree may have changed. */
  refresh(rootRunId: string): void {
    [...this.shown.values()].filter((uri) => addressIn(uri).rootRunId === rootRunId).forEach((uri) => this.changed.fire(uri));
  }

  dispose(): void {
    this.subscriptions.forEach((each) => each.dispose());
    this.changed.dispose();
  }

  private offerUndo(): void {
    void commands.executeCommand('setContext', REVIEWING, this.inFront() !== undefined);
  }

  /** VS Code adds the number of files to the title. */
  private inFront(): Edited | undefined {
    const label = window.tabGroups.activeTabGroup.activeTab?.label ?? '';
    return [...this.several].find(([title]) => label === title || label.startsWith(`${title} (`))?.[1];
  }
}

export function of({ run, turn, fromTurn }: Edited): ChangesOf {
  return { runId: run.runId, ...(turn === undefined ? {} : { turn }), ...(fromTurn === undefined ? {} : { fromTurn }) };
}

function turnsInWords({ turn, fromTurn }: Edited): string {
  return fromTurn !== undefined ? ` from turn ${fromTurn} on` : turn === undefined ? '' : ` in turn ${turn}`;
}

function isComparable({ before, after }: EditedFile): boolean {
  return before !== undefined && after !== undefined;
}

function sidesOf(edited: Edited, { path }: EditedFile): Uri[] {
  const { rootRunId } = edited.run;
  return SIDES.map((side) => Uri.file(path).with({ scheme: EDITS_SCHEME, query: JSON.stringify({ ...of(edited), rootRunId, file: path, side } satisfies Address) }));
}

function addressIn(uri: Uri): Address {
  return JSON.parse(uri.query) as Address;
}
