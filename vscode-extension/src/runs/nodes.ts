// What a run consists of: its turns, their tool calls, and the runs of the agents that were called. These are the nodes of the
// tree that is shown; they change while the run goes on. Knows nothing of VS Code.

import type { AgentEnd, AgentPlace, CompactionEnd, ContextEvent, ContextShortened, Fork, Incomplete, MessageMode, MessagesGiven, PastRun, Source, TurnRetry, TurnWait, Used } from '../protocol';

export type Status = PastRun['status'] | 'denied';

/** When something began and ended, in milliseconds since 1970, and how it stands with it. */
interface Lasting {
  status: Status;
  readonly began: number;
  ended?: number | undefined;
}

/** A message to a run that is not given yet. */
export interface QueuedMessage {
  readonly messageId: string;
  readonly mode: MessageMode;
  readonly text: string;
  readonly from: string;
}

/** A time in which a run has waited for side runs, by name. */
export interface IdleTime {
  readonly began: number;
  ended?: number | undefined;
  readonly sideRuns: readonly string[];
}

export interface RunNode extends Lasting {
  readonly kind: 'run';
  readonly runId: string;
  readonly rootRunId: string;
  readonly agent: string;
  readonly depth: number;
  readonly workspace: string;
  /** The name of a side run, such as `lint-1`. */
  readonly side?: string | undefined;
  /** Whether it has begun in a former process, so that its figures leave out the time between. */
  isResumed?: boolean;
  task: string;
  /** Whether a root run that has ended can be resumed, as far as that is known. */
  isResumable?: boolean | undefined;
  /** Whether a root run of another window or terminal waited for an answer when the list was read last. */
  waitsElsewhere?: boolean;
  /** The run whose first turns this one shares. */
  readonly forkedFrom?: Fork | undefined;
  /** The run whose conversation this one goes on with. */
  readonly continues?: string | undefined;
  /** What the caller calls the task in a few words. */
  description?: string | undefined;
  model: string;
  /** Where its tools work, or what they wait for, if it has a copy of its folder. */
  place?: AgentPlace | undefined;
  error?: string | undefined;
  incomplete?: Incomplete | undefined;
  /** What has become of the changes in its copy, in words, and whether all of them or some are not in the folder. */
  changes?: string | undefined;
  unapplied?: AgentEnd['unapplied'] | undefined;
  used?: Used | undefined;
  /** With all that the run called, if that is more. */
  tree?: Used | undefined;
  /** The turn that called it, or the run if nobody knows which turn; the root has none. */
  caller?: TurnNode | RunNode | undefined;
  readonly turns: TurnNode[];
  /** The messages that wait, by id, in the order in which they came. */
  readonly queue: Map<string, QueuedMessage>;
  readonly idleTimes: IdleTime[];
  /** What requests of the run have given to the model beside tool results. */
  readonly given: MessagesGiven[];
  /** The runs that it called in nobody knows which turn. */
  readonly strays: RunNode[];
}

export interface TurnNode extends Lasting {
  readonly kind: 'turn';
  readonly run: RunNode;
  readonly number: number;
  readonly messages: number;
  text: string;
  sources?: readonly Source[] | undefined;
  /** What the model thought before it answered. */
  thought: string;
  stopReason?: string;
  incomplete?: Incomplete | undefined;
  used?: Used;
  readonly retries: TurnRetry[];
  /** How its request was made shorter. */
  readonly contexts: (ContextShortened | CompactionEnd)[];
  /** What its request waits for or was made of, until something comes of it. */
  state?: TurnWait | ContextEvent | undefined;
  readonly calls: CallNode[];
}

export interface CallNode extends Lasting {
  readonly kind: 'call';
  readonly turn: TurnNode;
  readonly number: number;
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  content?: string;
  /** The id of that run, if its call has ended before it has begun, as that of a side run. */
  childRunId?: string | undefined;
  /** The run of the agent that it calls. */
  child?: RunNode;
}

export type Node = RunNode | TurnNode | CallNode;

/** What a command is given that was chosen on a row. */
export function isNode(given: unknown): given is Node {
  return typeof given === 'object' && given !== null && 'kind' in given && 'began' in given;
}

/** A call of an agent and its run are one thing to whoever looks. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'run':
      return [...node.turns, ...node.strays];
    case 'turn':
      return node.calls.map((call) => call.child ?? call);
    case 'call':
      return [];
  }
}

export function parentOf(node: Node): Node | undefined {
  switch (node.kind) {
    case 'run':
      return node.caller;
    case 'turn':
      return node.run;
    case 'call':
      return node.turn;
  }
}

/** The run that a node is, or belongs to. */
export function runOf(node: Node): RunNode {
  switch (node.kind) {
    case 'run':
      return node;
    case 'turn':
      return node.run;
    case 'call':
      return node.turn.run;
  }
}

/** The run that nobody has called, at the top of a tree. */
export function rootOf(run: RunNode): RunNode {
  return run.caller ? rootOf(runOf(run.caller)) : run;
}

/** Names a node among all of all runs. */
export function idOf(node: Node): string {
  switch (node.kind) {
    case 'run':
      return node.runId;
    case 'turn':
      return `${node.run.runId}/${node.number}`;
    case 'call':
      return `${idOf(node.turn)}/${node.number}`;
  }
}

/** The node of that id below another one, or itself. */
export function findNode(top: Node, id: string): Node | undefined {
  if (idOf(top) === id) {
    return top;
  }
  for (const child of childrenOf(top)) {
    const found = findNode(child, id);
    if (found) {
      return found;
    }
  }
  return undefined;
}

/** Whether a root run has something left to do; only the server knows for certain. */
export function mayContinue({ status, isResumable }: RunNode): boolean {
  return status !== 'running' && status !== 'completed' && isResumable !== false;
}

/** What a run has used with all that it called: as it said at its end, until then the sum of what has ended. */
export function usedBy(run: RunNode): Used {
  return run.tree ?? run.used ?? sum([...run.turns.flatMap(usedInTurn), ...run.strays.map(usedBy)]);
}

/** The wait for side runs in which a run is. */
export function idleOf(run: RunNode): IdleTime | undefined {
  const last = run.idleTimes.at(-1);
  return run.status === 'running' && last?.ended === undefined ? last : undefined;
}

/** A side run by its own name, any other run by that of its agent. */
export function nameOf({ side, agent }: RunNode): string {
  return side ?? agent;
}

export function durationOf(node: Pick<Lasting, 'began' | 'ended'>, now: number): number {
  return Math.max(0, (node.ended ?? now) - node.began);
}

function usedInTurn(turn: TurnNode): Used[] {
  const below = turn.calls.flatMap((call) => (call.child ? [usedBy(call.child)] : []));
  const summaries = turn.contexts.flatMap((event) => (event.kind === 'end' ? [event] : []));
  return [...(turn.used ? [turn.used] : []), ...summaries, ...below];
}

/** A sum with an unknown cost in it has none. */
function sum(parts: readonly Used[]): Used {
  const total = (figure: (used: Used) => number) => parts.reduce((sofar, part) => sofar + figure(part), 0);
  const tokens = { inputTokens: total((part) => part.inputTokens), outputTokens: total((part) => part.outputTokens) };
  const isKnown = parts.length > 0 && parts.every((part) => part.cost !== undefined);
  return isKnown ? { ...tokens, cost: total((part) => part.cost ?? 0) } : tokens;
}
