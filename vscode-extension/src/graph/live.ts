// What agents do in the runs that are going on, by their names. Knows nothing of VS Code.

import { childrenOf, type Node, type RunNode } from '../runs/nodes';
import { idleInWords, inWords } from '../runs/presenting';

export interface LiveAgent {
  readonly state: 'waiting' | 'running' | 'failed' | 'completed';
  /** The state, and how far it has got. */
  readonly words: string;
}

export interface Live {
  readonly agents: ReadonlyMap<string, LiveAgent>;
  /** Who has called whom, as `callOf` puts it. */
  readonly calls: ReadonlySet<string>;
}

export const NOBODY: Live = { agents: new Map(), calls: new Set() };

/** `roots` are the runs that are going on, `asks` whether a run waits for the user. */
export function liveOf(roots: readonly RunNode[], asks: (runId: string) => boolean): Live {
  const runs = new Map<string, RunNode[]>();
  const calls = new Set<string>();
  for (const { run, caller } of roots.flatMap((root) => below(root, root, undefined))) {
    runs.set(run.agent, [...(runs.get(run.agent) ?? []), run]);
    if (caller) {
      calls.add(callOf(caller.agent, run.agent));
    }
  }
  return { agents: new Map([...runs].map(([name, all]) => [name, liveAgent(all, asks)])), calls };
}

export function callOf(caller: string, agent: string): string {
  return JSON.stringify([caller, agent]);
}

interface Called {
  readonly run: RunNode;
  readonly caller: RunNode | undefined;
}

/** A run and all that were called in it. */
function below(node: Node, run: RunNode, caller: RunNode | undefined): Called[] {
  if (node.kind === 'run') {
    return [{ run: node, caller }, ...childrenOf(node).flatMap((child) => below(child, node, node))];
  }
  return childrenOf(node).flatMap((child) => below(child, run, caller));
}

/** Of several runs of an agent the one counts that needs the most attention. */
function liveAgent(runs: readonly RunNode[], asks: (runId: string) => boolean): LiveAgent {
  const waiting = runs.find((run) => run.status === 'running' && asks(run.runId));
  const going = waiting ?? runs.find(({ status }) => status === 'running');
  const times = runs.length > 1 ? ` ×${runs.length}` : '';
  if (going) {
    const turn = going.turns.at(-1)?.number ?? 1;
    return { state: waiting ? 'waiting' : 'running', words: waiting ? `asks you${times}` : `${idleInWords(going) || `running, turn ${turn}`}${times}` };
  }
  const bad = runs.find(({ status }) => status !== 'completed');
  return { state: bad ? 'failed' : 'completed', words: `${inWords(bad?.status ?? 'completed')}${times}` };
}
