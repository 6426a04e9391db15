// A root run and all below it, as the events tell: live ones, or remembered ones, in which the pieces of texts that are whole by
// now are left out. Knows nothing of VS Code.

import type { AgentBegin, AgentEnd, AgentIdle, AgentResume, ContextEvent, Happening, MessageEvent, PastRun, TextDelta, ThoughtDelta, ToolBegin, ToolEnd, TurnBegin, TurnEnd, TurnRetry, TurnWait, Used } from '../protocol';
import { adopt, callFor, callStatus, exchange } from './calls';
import type { Node, RunNode, Status, TurnNode } from './nodes';

export class RunTree {
  /** The number of the last event that is in the tree; 0 while only the root's beginning and end are known. */
  lastSeq = 0;
  private readonly runs = new Map<string, RunNode>();
  /** Messages to side runs that have not begun, by run. */
  private readonly early = new Map<string, MessageEvent[]>();
  /** What was open when the server went, until something is heard again. */
  private lost: readonly Node[] = [];

  constructor(readonly root: RunNode) {
    this.runs.set(root.runId, root);
  }

  /** A run that is remembered, of which nothing but its beginning and end is known yet. */
  static remembered(past: PastRun): RunTree {
    const tree = new RunTree(newRun(past, past.began, past.workspace));
    tree.update(past);
    return tree;
  }

  /** A run that begins now. */
  static begun(event: AgentBegin): RunTree {
    const tree = new RunTree(newRun(event, event.time));
    tree.lastSeq = event.seq;
    return tree;
  }

  run(runId: string): RunNode | undefined {
    return this.runs.get(runId);
  }

  /** What is remembered of the run now. */
  update(past: PastRun): void {
    const { root } = this;
    root.status = past.status;
    root.isResumable = past.status === 'running' ? undefined : past.resumable === true;
    root.waitsElsewhere = past.waits === true;
    root.ended = past.ended === undefined ? undefined : Date.parse(past.ended);
    Object.assign(root, figures(past));
  }

  /** Returns what has changed; nothing if the event is known already. */
  take(event: Happening): readonly Node[] {
    const { params } = event;
    if (params.seq <= this.lastSeq) {
      return [];
    }
    this.lastSeq = params.seq;
    const regained = this.regain();
    return [...regained, ...this.draw(event)];
  }

  private draw(event: Happening): readonly Node[] {
    const { method, params } = event;
    const run = this.runs.get(params.runId);
    if (method === 'axe/agent' && params.kind === 'begin') {
      return this.begin(params, run);
    }
    if (method === 'axe/agent' && params.kind === 'resume') {
      return run ? reopen(run) : this.begin(params, run);
    }
    if (!run) {
      if (method === 'axe/message') {
        this.early.set(params.runId, [...(this.early.get(params.runId) ?? []), params]);
      }
      return [];
    }
    if (endsIdleTime(event)) {
      closeIdleTime(run, Date.parse(params.time));
    }
    switch (method) {
      case 'axe/agent':
        return params.kind === 'end' ? endRun(run, params) : params.kind === 'idle' ? beginIdleTime(run, params) : [];
      case 'axe/turn':
        return takeTurn(run, params);
      case 'axe/text':
        return takeText(run, params);
      case 'axe/thought':
        return takeThought(run, params);
      case 'axe/place':
        run.place = params;
        return [run];
      case 'axe/wait':
        return takeState(run, params);
      case 'axe/context':
        return takeContext(run, params);
      case 'axe/message':
        return takeMessage(run, params);
      case 'axe/tool':
        return params.kind === 'begin' ? beginCall(run, params) : this.endCall(run, params);
      default:
        return []; // A later server tells of more.
    }
  }

  /** Nobody will say any more how what is under way ends. Returns those runs, children before their parents. */
  lose(now: number): readonly RunNode[] {
    const lost = [...this.runs.values()].filter((run) => run.status === 'running').reverse();
    this.lost = lost.flatMap((run) => [run, ...run.turns, ...run.turns.flatMap(({ calls }) => calls)]).filter(({ ended }) => ended === undefined);
    for (const run of lost) {
      closeAll(run, 'killed', now);
      close(run, 'killed', now);
    }
    return lost;
  }

  /** Runs that outlive their server go on where they were, as the next one tells. Returns them; a turn may be made anew. */
  regain(): readonly Node[] {
    const regained = this.lost;
    this.lost = [];
    regained.forEach((node) => Object.assign(node, { status: 'running', ended: undefined }));
    return regained.filter(({ kind }) => kind === 'run');
  }

  /** The root is known when it was remembered. */
  private begin(event: AgentBegin | AgentResume, known: RunNode | undefined): readonly Node[] {
    if (known) {
      Object.assign(known, { task: event.task, model: event.model });
      return [known];
    }
    const run = newRun(event, event.time);
    this.runs.set(run.runId, run);
    this.early.get(run.runId)?.forEach((message) => takeMessage(run, message));
    this.early.delete(run.runId);
    const caller = this.runs.get(event.parentRunId ?? '') ?? this.root;
    const call = callFor(event, caller);
    if (call) {
      adopt(call, run);
    } else {
      run.caller = caller;
      caller.strays.push(run);
    }
    return [run.caller ?? run];
  }

  /** Only now is it certain which run the call has made. */
  private endCall(run: RunNode, event: ToolEnd): readonly Node[] {
    const open = turnOf(run, event.turn)?.calls.find((each) => each.callId === event.callId && each.ended === undefined);
    if (!open) {
      return [];
    }
    open.content = event.content;
    close(open, callStatus(event), open.began + event.durationMs);
    const child = this.runs.get(event.childRunId ?? '');
    open.childRunId = event.childRunId;
    if (child && open.child !== child) {
      exchange(run, open, child);
    }
    return [open.turn];
  }
}

/** `workspace` is empty where it is this window's own. */
function newRun(who: AgentBegin | AgentResume | PastRun, began: string, workspace = ''): RunNode {
  return {
    kind: 'run',
    runId: who.runId,
    rootRunId: who.rootRunId,
    agent: who.agent,
    depth: who.depth,
    workspace,
    task: who.task ?? '',
    forkedFrom: 'forkedFrom' in who ? who.forkedFrom : undefined,
    continues: 'continues' in who ? who.continues : undefined,
    description: who.description,
    side: who.side,
    model: who.model ?? '',
    status: 'running',
    began: Date.parse(began),
    turns: [],
    queue: new Map(),
    idleTimes: [],
    given: [],
    strays: [],
  };
}

/** A run goes on that a former process has left; what it had open is begun anew. */
function reopen(run: RunNode): readonly Node[] {
  closeAll(run, 'killed', Math.max(run.began, ...run.turns.map((turn) => turn.began)));
  Object.assign(run, { status: 'running', ended: undefined, isResumed: true, isResumable: undefined, ...figures({}) });
  return [run];
}

/** A message that waits for its turn leaves the run waiting. */
function endsIdleTime({ method, params }: Happening): boolean {
  return method !== 'axe/message' || params.kind === 'given';
}

function closeIdleTime(run: RunNode, now: number): void {
  const last = run.idleTimes.at(-1);
  if (last && last.ended === undefined) {
    last.ended = Math.max(last.began, now);
  }
}

function beginIdleTime(run: RunNode, { time, sideRuns }: AgentIdle): readonly Node[] {
  run.idleTimes.push({ began: Date.parse(time), sideRuns });
  return [run];
}

function takeMessage(run: RunNode, event: MessageEvent): readonly Node[] {
  const { queue, given } = run;
  switch (event.kind) {
    case 'queued': {
      const { messageId, mode, text, from } = event;
      queue.set(messageId, { messageId, mode, text, from });
      break;
    }
    case 'changed': {
      const { messageId, mode, text } = event;
      const message = queue.get(messageId);
      if (message) {
        queue.set(messageId, { ...message, mode: mode ?? message.mode, text: text ?? message.text });
      }
      break;
    }
    case 'removed':
      queue.delete(event.messageId);
      break;
    case 'given':
      event.messageIds.forEach((messageId) => queue.delete(messageId));
      given.push(event);
  }
  return [run];
}

function endRun(run: RunNode, event: AgentEnd): readonly Node[] {
  const now = run.isResumed ? Date.parse(event.time) : run.began + event.durationMs;
  closeAll(run, event.status === 'completed' ? 'cancelled' : event.status, now);
  close(run, event.status, now);
  if (event.status === 'completed') {
    run.queue.clear();
  }
  Object.assign(run, figures(event));
  return [run];
}

function figures({ inputTokens, outputTokens, cost, tree, error, incomplete, changes, unapplied }: Partial<Used> & Partial<Pick<AgentEnd, 'tree' | 'error' | 'incomplete' | 'changes' | 'unapplied'>>) {
  const isKnown = inputTokens !== undefined && outputTokens !== undefined;
  return { used: isKnown ? used({ inputTokens, outputTokens, cost }) : undefined, tree, error, incomplete, changes, unapplied };
}

function used({ inputTokens, outputTokens, cost }: Omit<Used, 'cost'> & { readonly cost?: number | undefined }): Used {
  return cost === undefined ? { inputTokens, outputTokens } : { inputTokens, outputTokens, cost };
}

function takeTurn(run: RunNode, event: TurnBegin | TurnRetry | TurnEnd): readonly Node[] {
  if (event.kind === 'begin') {
    const began = Date.parse(event.time);
    const { turn: number, messages } = event;
    const unanswered = run.turns.findIndex((turn) => turn.number === number);
    if (unanswered >= 0) {
      run.turns.splice(unanswered, 1); // By a former process.
    }
    run.turns.push({ kind: 'turn', run, number, messages, status: 'running', began, text: '', thought: '', retries: [], contexts: [], calls: [] });
    return [run];
  }
  const turn = turnOf(run, event.turn);
  if (!turn) {
    return [];
  }
  if (event.kind === 'retry') {
    turn.retries.push(event);
    turn.text = '';
    turn.thought = '';
    turn.state = undefined;
  } else {
    Object.assign(turn, { text: event.text, sources: event.sources, stopReason: event.stopReason, incomplete: event.incomplete, used: used(event) });
    close(turn, 'completed', turn.began + event.durationMs);
  }
  return [turn];
}

function takeText(run: RunNode, event: TextDelta): readonly Node[] {
  const turn = turnOf(run, event.turn);
  if (!turn) {
    return [];
  }
  turn.text += event.delta;
  turn.state = undefined;
  return [turn];
}

function takeState(run: RunNode, event: TurnWait | ContextEvent): readonly Node[] {
  const turn = turnOf(run, event.turn);
  if (!turn) {
    return [];
  }
  turn.state = event;
  return [turn];
}

function takeContext(run: RunNode, event: ContextEvent): readonly Node[] {
  if (event.kind !== 'begin') {
    turnOf(run, event.turn)?.contexts.push(event);
  }
  return takeState(run, event);
}

function takeThought(run: RunNode, event: ThoughtDelta): readonly Node[] {
  const turn = turnOf(run, event.turn);
  if (!turn) {
    return [];
  }
  turn.thought += event.delta;
  turn.state = undefined;
  return [turn];
}

function beginCall(run: RunNode, event: ToolBegin): readonly Node[] {
  const turn = turnOf(run, event.turn);
  if (!turn) {
    return [];
  }
  const { callId, name, arguments: given } = event;
  const began = Date.parse(event.time);
  turn.calls.push({ kind: 'call', turn, number: turn.calls.length + 1, callId, name, arguments: given, status: 'running', began });
  return [turn];
}

function turnOf(run: RunNode, number: number): TurnNode | undefined {
  return run.turns.findLast((turn) => turn.number === number);
}

/** Ends what a run has left open. */
function closeAll(run: RunNode, status: Status, now: number): void {
  closeIdleTime(run, now);
  for (const turn of run.turns) {
    close(turn, status, now);
    turn.calls.forEach((call) => close(call, status, now));
  }
}

function close(node: Node, status: Status, now: number): void {
  if (node.ended === undefined) {
    node.status = status;
    node.ended = Math.max(node.began, now);
  }
}
