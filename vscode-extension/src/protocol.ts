// What the server speaks beyond LSP, as far as this extension uses it. The names are the wire's.

import { NotificationType, RequestType } from 'vscode-languageclient/node';

/** An agent by its file, or by its name. The input is for one with `[input]`, instead of a task. */
export type RunParams = ({ readonly uri: string } | { readonly agent: string }) & {
  readonly task?: string;
  readonly input?: object;
};

export interface RunResult {
  readonly runId: string;
  readonly content: string;
}

/** A run that is remembered: who it is, and what its beginning and its end have told. */
export interface PastRun extends Partial<Omit<AgentEnd, 'kind' | 'status'>> {
  readonly runId: string;
  readonly rootRunId: string;
  readonly parentRunId?: string;
  readonly agent: string;
  readonly depth: number;
  readonly status: 'running' | AgentEnd['status'];
  readonly workspace: string;
  readonly began: string;
  readonly ended?: string;
  readonly task?: string;
  readonly description?: string;
  readonly model?: string;
  readonly forkedFrom?: Fork;
  readonly continues?: string;
  /** Whether a root run can be resumed. */
  readonly resumable?: true;
  /** Whether an active run waits for an answer; a root also for those below it. */
  readonly waits?: true;
  /** The name of a side run. */
  readonly side?: string;
}

/** The run whose turns before `turn` another one shares. */
export interface Fork {
  readonly runId: string;
  readonly turn: number;
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
  /** The name of a side run, such as `lint-1`: its caller does not wait for it. */
  readonly side?: string;
  readonly forkedFrom?: Fork;
  /** The run whose conversation goes on. */
  readonly continues?: string;
}

/** A run goes on that had begun in a former process; `turn` is its next one. */
export interface AgentResume extends RunEvent {
  readonly kind: 'resume';
  readonly task: string;
  readonly description?: string;
  readonly model: string;
  readonly side?: string;
  readonly turn: number;
}

/** The model has no more calls, and the run waits for these side runs, by name. */
export interface AgentIdle extends RunEvent {
  readonly kind: 'idle';
  readonly turn: number;
  readonly sideRuns: readonly string[];
}

/** When a message is given: before the next request, when the run would end, or at once. */
export type MessageMode = 'next' | 'after' | 'now';

/** A run has accepted a message. */
export interface MessageQueued extends RunEvent {
  readonly kind: 'queued';
  readonly messageId: string;
  readonly mode: MessageMode;
  readonly text: string;
  /** `person`, or the name of the agent that called the run. */
  readonly from: string;
}

export interface MessageChanged extends RunEvent {
  readonly kind: 'changed';
  readonly messageId: string;
  readonly text?: string;
  readonly mode?: MessageMode;
}

export interface MessageRemoved extends RunEvent {
  readonly kind: 'removed';
  readonly messageId: string;
}

/** The request of a turn gives answers of side runs, by name, and messages. */
export interface MessagesGiven extends RunEvent {
  readonly kind: 'given';
  readonly turn: number;
  readonly sideRuns: readonly string[];
  readonly messageIds: readonly string[];
  readonly text: string;
}

export type MessageEvent = MessageQueued | MessageChanged | MessageRemoved | MessagesGiven;

export interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars, if it is known. */
  readonly cost?: number;
}

/** Why an answer is not whole. */
export type Incomplete = 'length' | 'context_window' | 'content_filter' | 'refusal' | 'paused' | 'malformed_call' | 'interrupted';

export interface AgentEnd extends RunEvent, Used {
  readonly kind: 'end';
  readonly status: 'completed' | 'failed' | 'timeout' | 'cancelled' | 'killed';
  readonly durationMs: number;
  readonly turns: number;
  readonly toolCalls: number;
  /** What was used with all that the run called, if that is more. */
  readonly tree?: Used;
  readonly error?: string;
  readonly incomplete?: Incomplete;
  /** What has become of the changes in its copy, in words. */
  readonly changes?: string;
  /** Whether all of them or some are not in the folder. */
  readonly unapplied?: 'all' | 'some';
}

/** Where the tools of an agent in a copy work; what it waits for, as long as it does. */
export interface AgentPlace extends RunEvent {
  /** "here", or an address such as `ssh://build1`; empty while none is found. */
  readonly place: string;
  readonly folder?: string;
  readonly ref?: string;
  readonly waiting?: string;
  readonly reason?: string;
}

export interface TurnBegin extends RunEvent {
  readonly kind: 'begin';
  readonly turn: number;
  readonly messages: number;
}

/** The request has failed for a moment, and is sent again after a wait. */
export interface TurnRetry extends RunEvent {
  readonly kind: 'retry';
  readonly turn: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly category: string;
  readonly message: string;
  readonly waitMs: number;
}

/** The request waits: its provider takes no more at once, or wants to be left alone for so long. */
export interface TurnWait extends RunEvent {
  readonly turn: number;
  readonly provider: string;
  readonly waitMs?: number;
}

/** Before a request that is too long for its model, old results were shortened. */
export interface ContextShortened extends RunEvent {
  readonly kind: 'shortened';
  readonly turn: number;
  readonly results: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The model is asked for a summary of the conversation, which is too long. */
export interface CompactionBegin extends RunEvent {
  readonly kind: 'begin';
  readonly turn: number;
  readonly tokensBefore: number;
}

/** The summary has replaced so many messages, or there is none. */
export interface CompactionEnd extends RunEvent, Used {
  readonly kind: 'end';
  readonly turn: number;
  readonly messages: number;
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly error?: string;
}

export type ContextEvent = ContextShortened | CompactionBegin | CompactionEnd;

/** A page or a file that an answer cites: a file has no address, a page may have no title. */
export interface Source {
  readonly url?: string;
  readonly title?: string;
}

export interface TurnEnd extends RunEvent, Used {
  readonly kind: 'end';
  readonly turn: number;
  readonly stopReason: string;
  readonly text: string;
  readonly sources?: readonly Source[];
  readonly durationMs: number;
  readonly incomplete?: Incomplete;
}

export interface TextDelta extends RunEvent {
  readonly turn: number;
  readonly delta: string;
}

/** A piece of what the model thinks, which is no part of the answer. */
export interface ThoughtDelta extends RunEvent {
  readonly turn: number;
  readonly delta: string;
}

export interface ToolBegin extends RunEvent {
  readonly kind: 'begin';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface ToolEnd extends RunEvent {
  readonly kind: 'end';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly isError: boolean;
  /** At most 20,000 characters. */
  readonly content: string;
  readonly durationMs: number;
  readonly childRunId?: string;
}

/** What happens in runs, each under the name of its notification. */
export type Happening =
  | { readonly method: 'axe/agent'; readonly params: AgentBegin | AgentResume | AgentIdle | AgentEnd }
  | { readonly method: 'axe/turn'; readonly params: TurnBegin | TurnRetry | TurnEnd }
  | { readonly method: 'axe/text'; readonly params: TextDelta }
  | { readonly method: 'axe/thought'; readonly params: ThoughtDelta }
  | { readonly method: 'axe/place'; readonly params: AgentPlace }
  | { readonly method: 'axe/wait'; readonly params: TurnWait }
  | { readonly method: 'axe/context'; readonly params: ContextEvent }
  | { readonly method: 'axe/message'; readonly params: MessageEvent }
  | { readonly method: 'axe/tool'; readonly params: ToolBegin | ToolEnd };

/** `details` is the exact command, or the change as a unified diff; `change` is the file that changes, unless it is very long. */
export interface Question {
  readonly runId: string;
  readonly rootRunId: string;
  readonly agent: string;
  /** The name of the run, if it is a side run. */
  readonly side?: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly details: string;
  readonly change?: Change;
  /** The same for calls that are the same as this one; absent in questions about trust and about protected places. */
  readonly subject?: string;
  /** What "for this run" allows: `this command`, `this file` or `this call`; absent in questions about trust. */
  readonly forRun?: string;
  /** The narrowest rule of the setting `axe.tools.allow` that allows the call. */
  readonly rule?: string;
  /** The tool call; absent in questions about trust. */
  readonly callId?: string;
  /** The question is withdrawn after it, if there is a limit. */
  readonly timeoutMs?: number;
}

/** A question of a model, by the tool `ask_user`. Other answers than the choices are possible. */
export interface Inquiry {
  readonly runId: string;
  readonly rootRunId: string;
  readonly agent: string;
  /** The name of the run, if it is a side run. */
  readonly side?: string;
  readonly reason: string;
  readonly question: string;
  readonly choices?: readonly string[];
  readonly callId?: string;
  readonly timeoutMs?: number;
}

export interface Reply {
  readonly answer: string;
}

/** What a tool of an agent asks about code (docs/protocol.md, `axe/editor`). Lines count from 1. */
export interface CodeQuestion {
  readonly question: 'diagnostics' | 'definition' | 'references' | 'symbols' | 'hover' | 'incomingCalls' | 'outgoingCalls';
  readonly uri?: string;
  readonly line?: number;
  readonly name?: string;
  /** Of the text that the diagnostics are to be about. */
  readonly digest?: string;
  readonly timeoutMs: number;
}

export interface CodeItem {
  readonly uri?: string;
  readonly line?: number;
  readonly text?: string;
  readonly name?: string;
  readonly kind?: string;
  readonly message?: string;
  readonly severity?: 'error' | 'warning' | 'information' | 'hint';
  readonly source?: string;
}

export interface CodeAnswer {
  readonly items?: readonly CodeItem[];
  readonly leftOut?: number;
  /** The digests of the texts whose diagnostics are complete, by URI. */
  readonly checked?: Readonly<Record<string, string>>;
  readonly missing?: 'folder' | 'server' | 'name';
}

/** A whole file; `before` is empty where there is none yet. */
export interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

export interface Approval {
  readonly decision: 'allow' | 'allowForRun' | 'deny';
  readonly note?: string;
}

/** A further message in the conversation of a root run, whose agent is read again in a session. */
export interface ReplyParams {
  readonly continue: string;
  readonly task: string;
  readonly session: true;
}

export const RunRequest = new RequestType<RunParams | ReplyParams, RunResult, unknown>('axe/run');
export const RunsRequest = new RequestType<{ limit: number; before?: string; folders?: string[] }, PastRun[], unknown>('axe/runs');
export const EventsRequest = new RequestType<{ runId: string; after?: number }, Happening[], unknown>('axe/events');
export const SubscribeRequest = new RequestType<Record<string, never>, unknown, unknown>('axe/subscribe');
/** With `fromTurn` it makes a new run that shares the turns before; another `model` may go on. */
export interface ResumeParams {
  readonly runId: string;
  readonly fromTurn?: number;
  readonly model?: string;
}

export const ResumeRequest = new RequestType<ResumeParams, RunResult, unknown>('axe/resume');
/** A file that a run has changed. One with a `reason` is left, one with a `digest` can be put back; a large one has no texts. */
export interface ChangedFile {
  readonly path: string;
  readonly digest?: string;
  readonly before?: string | null;
  readonly after?: string | null;
  readonly reason?: string;
}

/** Which changes are meant: those of a run and the agents that it has called, of one of its turns, or of one and those after it. */
export interface ChangesOf {
  readonly runId: string;
  readonly turn?: number;
  readonly fromTurn?: number;
}

interface UndoParams extends ChangesOf {
  readonly agreed?: readonly { readonly path: string; readonly digest: string }[];
}

/** Without `agreed` it tells of files and commands, with it what was done. */
interface Undone {
  readonly files: readonly ChangedFile[];
  readonly hasCommands: boolean;
  readonly undone: readonly string[];
  readonly left: readonly LeftFile[];
}

/** A file that an undo does not put back, and why. */
export interface LeftFile {
  readonly path: string;
  readonly reason: string;
}

/** A file between its first state and the last one that a run has left: its lines are absent where they are not known, its texts also if they were not asked for. */
export interface EditedFile {
  readonly path: string;
  readonly kind: 'added' | 'deleted' | 'modified';
  readonly added?: number;
  readonly removed?: number;
  readonly isUndone?: true;
  readonly before?: string | null;
  readonly after?: string | null;
}

/** What a turn has changed, with the agents that it has called. */
export interface TurnEdits {
  readonly runId: string;
  readonly turn: number;
  readonly files: number;
  readonly added: number;
  readonly removed: number;
  /** Files whose lines are not known. */
  readonly uncounted: number;
}

export interface RunEdits {
  readonly files: readonly EditedFile[];
  readonly left: readonly LeftFile[];
  /** Of all runs of the tree. */
  readonly turns: readonly TurnEdits[];
  /** Whether the run has run commands, whose changes are not known. */
  readonly hasCommands: boolean;
  readonly isRunning: boolean;
}

export const ChangesRequest = new RequestType<ChangesOf & { texts?: boolean }, RunEdits, unknown>('axe/changes');
export const UndoRequest = new RequestType<UndoParams, Undone, unknown>('axe/undo');
export const StopRequest = new RequestType<{ runId: string }, { stopped: boolean }, unknown>('axe/stop');
interface NewMessage {
  readonly runId: string;
  readonly text: string;
  readonly mode: MessageMode;
  readonly messageId: string;
}

/** Without `text` or `mode` that stays; `null` as the text removes the message. */
export interface MessageChange {
  readonly text?: string | null;
  readonly mode?: MessageMode;
}

export const MessageRequest = new RequestType<NewMessage, { messageId: string }, unknown>('axe/message');
export const ChangeMessageRequest = new RequestType<MessageChange & { runId: string; messageId: string }, { changed: boolean }, unknown>('axe/changeMessage');
export const AskRequest = new RequestType<Inquiry, Reply | null, unknown>('axe/ask');
export const EditorRequest = new RequestType<CodeQuestion, CodeAnswer, unknown>('axe/editor');
export const ApproveRequest = new RequestType<Question, Approval, unknown>('axe/approve');

export const AgentNotification = new NotificationType<AgentBegin | AgentResume | AgentIdle | AgentEnd>('axe/agent');
export const TurnNotification = new NotificationType<TurnBegin | TurnRetry | TurnEnd>('axe/turn');
export const TextNotification = new NotificationType<TextDelta>('axe/text');
export const ThoughtNotification = new NotificationType<ThoughtDelta>('axe/thought');
export const PlaceNotification = new NotificationType<AgentPlace>('axe/place');
export const WaitNotification = new NotificationType<TurnWait>('axe/wait');
export const ContextNotification = new NotificationType<ContextEvent>('axe/context');
export const MessageNotification = new NotificationType<MessageEvent>('axe/message');
export const ToolNotification = new NotificationType<ToolBegin | ToolEnd>('axe/tool');
