// Events of runs for tests: numbered in the order in which they are made, a second apart.

import type { Happening, PastRun } from '../../src/protocol';

export const START = Date.parse('2026-05-02T10:00:00.000Z');

interface Who {
  readonly runId: string;
  readonly agent: string;
  readonly depth: number;
  readonly parentRunId?: string;
  readonly side?: string;
}

export const LEAD: Who = { runId: 'l', agent: 'lead', depth: 0 };
/** A side run of the lead. */
export const LINT: Who = { runId: 's', agent: 'lint', depth: 1, parentRunId: 'l', side: 'lint-1' };
export const TEST: Who = { runId: 't', agent: 'test', depth: 1, parentRunId: 'l' };

const USED = { inputTokens: 100, outputTokens: 10, cost: 0.001 };

export class Script {
  readonly events: Happening[] = [];

  begin(who: Who, task: string): this {
    return this.add('axe/agent', who, { kind: 'begin', task, model: 'openai/m' });
  }

  resume(who: Who, turn: number, task = ''): this {
    return this.add('axe/agent', who, { kind: 'resume', task, model: 'openai/m', turn, saved: {} });
  }

  idle(who: Who, turn: number, sideRuns: readonly string[]): this {
    return this.add('axe/agent', who, { kind: 'idle', turn, sideRuns });
  }

  message(who: Who, kind: string, more: object): this {
    return this.add('axe/message', who, { kind, ...more });
  }

  end(who: Who, status = 'completed', more: object = {}): this {
    return this.add('axe/agent', who, { kind: 'end', status, durationMs: 5000, ...USED, turns: 1, toolCalls: 1, ...more });
  }

  turn(who: Who, turn: number): this {
    return this.add('axe/turn', who, { kind: 'begin', turn, messages: turn });
  }

  text(who: Who, turn: number, delta: string): this {
    return this.add('axe/text', who, { turn, delta });
  }

  thought(who: Who, turn: number, delta: string): this {
    return this.add('axe/thought', who, { turn, delta });
  }

  said(who: Who, turn: number, text: string, more: object = {}): this {
    return this.add('axe/turn', who, { kind: 'end', turn, text, stopReason: 'stop', durationMs: 500, ...USED, ...more });
  }

  retry(who: Who, turn: number, message: string): this {
    const times = { attempt: 1, maxAttempts: 3, waitMs: 2000 };
    return this.add('axe/turn', who, { kind: 'retry', turn, category: 'overloaded', message, ...times });
  }

  place(who: Who, place: string, more: object = {}): this {
    return this.add('axe/place', who, { place, ...more });
  }

  wait(who: Who, turn: number, more: object): this {
    return this.add('axe/wait', who, { turn, provider: 'openai', ...more });
  }

  context(who: Who, turn: number, kind: string, more: object): this {
    return this.add('axe/context', who, { turn, kind, tokensBefore: 9000, ...more });
  }

  call(who: Who, turn: number, callId: string, name: string, given: object): this {
    return this.add('axe/tool', who, { kind: 'begin', turn, callId, name, arguments: given });
  }

  result(who: Who, turn: number, callId: string, name: string, content: string, more: object = {}): this {
    return this.add('axe/tool', who, { kind: 'end', turn, callId, name, isError: false, content, durationMs: 300, ...more });
  }

  private add(method: string, who: Who, members: object): this {
    const seq = this.events.length + 1;
    const time = new Date(START + 1000 * (seq - 1)).toISOString();
    const params = { ...who, rootRunId: LEAD.runId, seq, time, ...members };
    this.events.push({ method, params } as unknown as Happening);
    return this;
  }
}

/** A run that has started a side run, whose run begins after its call has ended, and waits for it. */
export function waiting(): Script {
  return new Script()
    .begin(LEAD, 'Check this')
    .turn(LEAD, 1)
    .said(LEAD, 1, 'I start it.')
    .call(LEAD, 1, 'c1', 'call_agent', { agent: 'lint', task: 'Lint', background: true })
    .result(LEAD, 1, 'c1', 'call_agent', 'Started the side run "lint-1".', { childRunId: 's' })
    .message(LINT, 'queued', { messageId: 'early', mode: 'next', text: 'Only a.py', from: 'person' })
    .begin(LINT, 'Lint')
    .turn(LEAD, 2)
    .said(LEAD, 2, 'Meanwhile.')
    .idle(LEAD, 3, ['lint-1']);
}

/** A run that called another and read a file. */
export function finished(): Script {
  return new Script()
    .begin(LEAD, 'Check this')
    .turn(LEAD, 1)
    .text(LEAD, 1, 'I as')
    .said(LEAD, 1, 'I ask.')
    .call(LEAD, 1, 'c1', 'call_agent', { agent: 'test', task: 'Run them' })
    .begin(TEST, 'Run them')
    .turn(TEST, 1)
    .said(TEST, 1, 'They pass.')
    .end(TEST)
    .result(LEAD, 1, 'c1', 'call_agent', 'They pass.', { childRunId: 't' })
    .call(LEAD, 1, 'c2', 'read_file', { path: 'a.md' })
    .result(LEAD, 1, 'c2', 'read_file', '{"a": 1}')
    .turn(LEAD, 2)
    .said(LEAD, 2, 'It can.')
    .end(LEAD, 'completed', { tree: { inputTokens: 300, outputTokens: 30, cost: 0.003 } });
}

export function past(runId: string, began: number, more: Partial<PastRun> = {}): PastRun {
  const who = { runId, rootRunId: runId, agent: 'lead', depth: 0, workspace: '/w', status: 'completed' } as const;
  const ended = more.status === 'running' ? {} : { ended: new Date(began + 2000).toISOString() };
  return { ...who, began: new Date(began).toISOString(), ...ended, task: 'Check', ...more };
}
