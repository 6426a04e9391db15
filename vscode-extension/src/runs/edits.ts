// What runs have changed in files, as the server knows it: asked for again when a tool may have changed one.

import { EventEmitter, type Disposable } from 'vscode';
import type { ChangesOf, RunEdits } from '../protocol';
import { editsView, turnView, type EditsView } from './editsInWords';
import { workspaceFolders } from './folders';
import type { RunNode, TurnNode } from './nodes';
import { shownPath } from './paths';

interface TreeEdits {
  readonly root: RunEdits;
  /** Of called runs that have changed something, by id. */
  readonly called: ReadonlyMap<string, CalledEdits>;
}

interface CalledEdits {
  /** What its turns have changed, as JSON: if that is the same, so is the rest. */
  readonly turns: string;
  readonly edits: RunEdits;
}

export class Edits implements Disposable {
  private readonly known = new Map<string, TreeEdits>();
  private readonly emitter = new EventEmitter<RunNode>();
  /** Hears of a root run in whose tree the changed files are others. */
  readonly onDidChange = this.emitter.event;
  /** Roots that are still to be asked about; one at a time. */
  private readonly asked = new Set<RunNode>();
  private isAsking = false;
  private folders: readonly string[] = [];

  constructor(private readonly request: (of: ChangesOf, texts: boolean) => Promise<RunEdits>) {}

  /** What a run has changed, with the agents that it has called. */
  of(run: RunNode): EditsView | undefined {
    const tree = this.known.get(run.rootRunId);
    const edits = run.runId === run.rootRunId ? tree?.root : tree?.called.get(run.runId)?.edits;
    return edits && editsView(edits, (path) => shownPath(path, [run.workspace, ...this.folders]));
  }

  ofTurn({ run, number }: TurnNode): EditsView | undefined {
    const edits = this.known.get(run.rootRunId)?.root;
    const turn = edits?.turns.find((each) => each.runId === run.runId && each.turn === number);
    return edits && turnView(turn, edits.isRunning);
  }

  /** The ids of the runs in whose views something is shown. */
  runsOf(root: RunNode): readonly string[] {
    return [root.runId, ...(this.known.get(root.runId)?.called.keys() ?? [])];
  }

  /** Asks the server, which answers soon. */
  look(root: RunNode): void {
    this.asked.add(root);
    if (!this.isAsking) {
      this.isAsking = true;
      void this.ask();
    }
  }

  dispose(): void {
    this.emitter.dispose();
  }

  private async ask(): Promise<void> {
    this.folders = await workspaceFolders();
    for (const root of this.asked) {
      this.asked.delete(root);
      const edits = await this.treeOf(root).catch(() => undefined); // A run that is not stored has none.
      if (edits && JSON.stringify(edits.root) !== JSON.stringify(this.known.get(root.runId)?.root)) {
        this.known.set(root.runId, edits);
        this.emitter.fire(root);
      }
    }
    this.isAsking = false;
  }

  private async treeOf({ runId }: RunNode): Promise<TreeEdits> {
    const root = await this.request({ runId }, false);
    const former = this.known.get(runId)?.called;
    const called = new Map<string, CalledEdits>();
    for (const id of new Set(root.turns.map((each) => each.runId))) {
      const turns = JSON.stringify([root.isRunning, root.turns.filter((each) => each.runId === id)]);
      const same = former?.get(id);
      if (id !== runId) {
        called.set(id, same?.turns === turns ? same : { turns, edits: await this.request({ runId: id }, false) });
      }
    }
    return { root, called };
  }
}
