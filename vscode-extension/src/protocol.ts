// What the server speaks beyond LSP, as far as this extension uses it. The names are the wire's.

import { NotificationType, RequestType } from 'vscode-languageclient/node';

export interface RunParams {
  readonly uri: string;
  readonly task?: string;
}

export interface RunResult {
  readonly runId: string;
  readonly content: string;
}

export interface Preview {
  readonly text: string;
}

/** A run that is remembered. */
export interface PastRun {
  readonly runId: string;
  readonly agent: string;
  readonly status: 'running' | AgentEnd['status'];
  readonly began: string;
  readonly task?: string;
}

/** Who a run is, and where in the order of events this one stands. */
interface RunEvent {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly rootRunId: string;
  readonly agent: string;
  readonly depth: number;
  readonly seq: number;
  readonly time: string;
}

export interface AgentBegin extends RunEvent {
  readonly kind: 'begin';
  readonly task: string;
  /** What the caller calls the task in a few words. */
  readonly description?: string;
  readonly model: string;
}

export interface AgentEnd extends RunEvent {
  readonly kind: 'end';
  readonly status: 'completed' | 'failed' | 'timeout' | 'cancelled' | 'killed';
  readonly durationMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly turns: number;
  readonly toolCalls: number;
  /** In US dollars, if it is known. */
  readonly cost?: number;
  /** What was used with all that the run called, if that is more. */
  readonly tree?: { readonly inputTokens: number; readonly outputTokens: number; readonly cost?: number };
  readonly error?: string;
}

export interface TurnBegin extends RunEvent {
  readonly kind: 'begin';
  readonly turn: number;
  readonly messages: number;
}

/** The request has failed for a moment, and is sent again after a wait. */
export interface TurnRetry extends RunEvent {
  readonly kind: 'retry';
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly category: string;
  readonly message: string;
  readonly waitMs: number;
}

export interface TurnEnd extends RunEvent {
  readonly kind: 'end';
  readonly turn: number;
  readonly text: string;
}

export interface TextDelta extends RunEvent {
  readonly turn: number;
  readonly delta: string;
}

export interface ToolBegin extends RunEvent {
  readonly kind: 'begin';
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolEnd extends RunEvent {
  readonly kind: 'end';
  readonly name: string;
  readonly isError: boolean;
  readonly content: string;
  readonly durationMs: number;
}

/** `details` is the exact command, or the change as a unified diff. */
export interface Question {
  readonly rootRunId: string;
  readonly agent: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly details: string;
}

export interface Approval {
  readonly decision: 'allow' | 'allowForRun' | 'deny';
  readonly note?: string;
}

export const RunRequest = new RequestType<RunParams, RunResult, unknown>('axe/run');
export const PreviewRequest = new RequestType<RunParams, Preview, unknown>('axe/preview');
export const RunsRequest = new RequestType<{ limit: number }, PastRun[], unknown>('axe/runs');
export const EventsRequest = new RequestType<{ runId: string; format: 'text' }, { text: string }, unknown>('axe/events');
export const StopRequest = new RequestType<{ runId: string }, unknown, unknown>('axe/stop');
export const ApproveRequest = new RequestType<Question, Approval, unknown>('axe/approve');

export const AgentNotification = new NotificationType<AgentBegin | AgentEnd>('axe/agent');
export const TurnNotification = new NotificationType<TurnBegin | TurnRetry | TurnEnd>('axe/turn');
export const TextNotification = new NotificationType<TextDelta>('axe/text');
export const ToolNotification = new NotificationType<ToolBegin | ToolEnd>('axe/tool');
