// Which runs a filter of the view leaves: those of which all its words say something. Knows nothing of VS Code.

import type { RunNode } from './nodes';
import { inWords } from './presenting';

/** What a run that asks something says of its state, beside that it is running. */
const WAITING = 'waiting for you';

/** Whether the agent, the task, the model and the state of a run have each word of a filter, in any case. */
export function passes(run: RunNode, isWaiting: boolean, filter: string): boolean {
  const state = isWaiting ? `${inWords(run.status)} ${WAITING}` : inWords(run.status);
  const said = [run.agent, run.description, run.task, run.model, state].join('\n').toLowerCase();
  return wordsOf(filter).every((word) => said.includes(word));
}

/** Blanks are no filter. */
export function wordsOf(filter: string): readonly string[] {
  return filter.toLowerCase().split(/\s+/).filter(Boolean);
}
