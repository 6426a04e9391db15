// Which run belongs to which tool call. Events of calls and of runs come by themselves: only at its end a call says which run it
// has made, until then it is told by what it asks for. Knows nothing of VS Code.

import type { AgentBegin, AgentResume, ToolEnd } from '../protocol';
import type { CallNode, RunNode, Status } from './nodes';

export function callStatus(event: ToolEnd): Status {
  if (!event.isError) {
    return 'completed';
  }
  if (event.content.startsWith(`${event.name} was not allowed`)) {
    return 'denied';
  }
  return event.content === 'cancelled' ? 'cancelled' : 'failed';
}

/** The call that asked for a run: one that has said so, as the start of a side run, or one under way that names its agent, best one with its task too, and has no run yet. */
export function callFor(event: AgentBegin | AgentResume, caller: RunNode): CallNode | undefined {
  const calls = caller.turns.flatMap((turn) => turn.calls);
  const open = calls.filter((call) => call.ended === undefined && !call.child);
  const words = (call: CallNode) => [call.name.replace(/^subagent--/, ''), ...Object.values(call.arguments)];
  const fitting = open.filter((call) => words(call).includes(event.agent));
  const start = calls.find((call) => call.childRunId === event.runId);
  return start ?? fitting.find((call) => words(call).includes(event.task)) ?? fitting[0];
}

/** The call that a question is about. An agent that is called stands in place of its call. */
export function askingCall(run: RunNode, callId: string | undefined): CallNode | undefined {
  const calls = run.turns.flatMap((turn) => turn.calls);
  return calls.findLast((call) => call.callId === callId && call.ended === undefined && !call.child);
}

export function adopt(call: CallNode, run: RunNode): void {
  call.child = run;
  run.caller = call.turn;
}

/** Puts a run where it belongs; what stood there takes its place. */
export function exchange(caller: RunNode, call: CallNode, child: RunNode): void {
  const stray = caller.strays.indexOf(child);
  const other = caller.turns.flatMap((turn) => turn.calls).find((each) => each.child === child);
  const displaced = call.child;
  if (stray >= 0) {
    caller.strays.splice(stray, 1);
  }
  if (other) {
    delete other.child;
  }
  adopt(call, child);
  if (displaced && other) {
    adopt(other, displaced);
  } else if (displaced) {
    displaced.caller = caller;
    caller.strays.push(displaced);
  }
}
