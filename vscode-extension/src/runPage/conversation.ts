// The runs of a conversation, in order: those that it goes on with, and, of a fork, the beginning that it shares. Knows nothing of
// VS Code.

import type { RunNode } from '../runs/nodes';

/** A former run whose turns before one are a part of a fork. */
export interface SharedRun {
  readonly run: RunNode;
  /** Infinite if all of its turns are. */
  readonly before: number;
}

export interface Conversation {
  /** In order, above the others. */
  readonly shared: readonly SharedRun[];
  /** The run, and those that it goes on with; a fork is the first. */
  readonly runs: readonly RunNode[];
}

/** Follows a root run back to at most `most` runs. `find` returns no run if it was forgotten. */
export async function conversationOf(root: RunNode, find: (runId: string) => Promise<RunNode | undefined>, most: number): Promise<Conversation> {
  const runs = [root];
  const shared: SharedRun[] = [];
  let oldest = root;
  let before = Infinity;
  while (runs.length + shared.length < most) {
    const { forkedFrom, continues } = oldest;
    const former = forkedFrom?.runId ?? continues;
    const run = former === undefined ? undefined : await find(former);
    if (!run) {
      break;
    }
    before = forkedFrom ? Math.min(before, forkedFrom.turn) : Infinity; // What came before a reply was all there.
    if (forkedFrom || shared.length > 0) {
      shared.unshift({ run, before });
    } else {
      runs.unshift(run);
    }
    oldest = run;
  }
  return { shared: shared.filter(({ run, before: end }) => run.turns.some(({ number }) => number < end)), runs };
}
