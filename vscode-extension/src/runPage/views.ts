// What the page of a conversation shows: its runs, one after the other, each as a tree of runs, turns and tool calls. A page is
// told what is new since the last time, a growing text by its end alone. Knows nothing of VS Code.

import type { Fork, Inquiry, Question } from '../protocol';
import { alwaysOf, changeOf, documentText, forRunLabel, isEdit } from '../questions';
import { askingCall } from '../runs/calls';
import type { EditsView } from '../runs/editsInWords';
import { count, givenInWords, joined, money, placeInWords, roomMade, shortened, stateInWords, duration, tokensInWords } from '../runs/figures';
import { childrenOf, idOf, mayContinue, nameOf, parentOf, runOf, usedBy, type CallNode, type Node, type QueuedMessage, type RunNode, type Status, type TurnNode } from '../runs/nodes';
import { answerOf, idleInWords, incompleteInWords, inWords } from '../runs/presenting';
import type { Conversation, SharedRun } from './conversation';
import { remediesOf, type RemedyView } from './remedies';

/** Characters of a task in the heading of a called agent. */
const HEADING = 120;

interface View {
  readonly id: string;
  /** The id of the view in which it stands; none for a root run. */
  readonly parent?: string | undefined;
  readonly status: Status;
  /** In words. */
  readonly state: string;
  /** In milliseconds since 1970. */
  readonly began: number;
  readonly ended?: number | undefined;
  /** Tokens and cost, and what is special. */
  readonly figures: string;
  /** The ids of the views in it, in order. A called agent takes the place of its call. */
  readonly children: readonly string[];
}

export interface RunView extends View {
  readonly kind: 'run';
  readonly runId: string;
  readonly agent: string;
  readonly model: string;
  readonly heading: string;
  readonly task: string;
  /** What it has answered, or why not, in a line. */
  readonly outcome: string;
  readonly error: string;
  /** What helps the newest run of the conversation, if it has failed. */
  readonly remedies?: RemedyView | undefined;
  /** Whether its caller does not wait for it. */
  readonly isSide: boolean;
  /** Whether it is a former run, of which a fork shares what is shown. */
  readonly isShared: boolean;
  /** The messages that wait. */
  readonly queue: readonly QueuedMessage[];
  /** What has become of the changes in its copy. */
  readonly changes: string;
  readonly unapplied: boolean;
  /** What it has changed in files, with the agents that it has called. */
  readonly edits?: EditsView | undefined;
}

export interface TurnView extends View {
  readonly kind: 'turn';
  readonly number: number;
  /** What it says, in a few words. */
  readonly heading: string;
  /** What happened to the request, a line each. */
  readonly notes: readonly string[];
  /** What its request waits for, until when, in milliseconds since 1970. */
  readonly wait?: { readonly what: string; readonly until: number } | undefined;
  /** What its request has given to the model beside tool results. */
  readonly given: readonly { readonly heading: string; readonly text: string; readonly isMessage: boolean }[];
  readonly thought: Growing;
  readonly text: Growing;
  readonly edits?: EditsView | undefined;
}

export interface CallView extends View {
  readonly kind: 'call';
  readonly name: string;
  /** The file, command or address that it is about. */
  readonly subject: string;
  /** The file to open. */
  readonly path?: string | undefined;
  /** Lines that begin with `+`, `-` or a blank, if it changes a file. */
  readonly change?: string | undefined;
  readonly arguments: string;
  readonly result?: string | undefined;
}

export type NodeView = RunView | TurnView | CallView;

/** A text whose first `kept` characters the page has already. */
export interface Growing {
  readonly kept: number;
  readonly more: string;
}

export interface QuestionView {
  readonly key: number;
  /** The id of the tool call that it is about, if the page shows it. */
  readonly at?: string | undefined;
  /** Milliseconds to answer, if there is a limit. */
  readonly leftMs?: number | undefined;
  readonly runId: string;
  readonly kind: 'approval' | 'inquiry';
  readonly agent: string;
  readonly message: string;
  /** The exact command, the change as a diff, or the whole question. */
  readonly details: string;
  readonly hasChange: boolean;
  readonly forRun?: string | undefined;
  readonly always?: string | undefined;
  /** Whether all changes of files in the run can be allowed. */
  readonly isEdit?: boolean;
  readonly choices: readonly string[];
}

export interface PageState {
  /** Whether the page knows nothing yet; else `nodes` are what is new. */
  readonly isWhole: boolean;
  /** The newest run of the conversation. */
  readonly runId: string;
  readonly title: string;
  readonly agent: string;
  /** For screen readers, when it changes. */
  readonly spoken: string;
  readonly isGoing: boolean;
  /** Whether the newest run has ended before it was completed, and may go on. */
  readonly canContinue: boolean;
  /** Whether that is so because the process that executed the run has gone. */
  readonly isInterrupted: boolean;
  /** Whether a reply, or the order to continue, is on its way. */
  readonly isReplying: boolean;
  /** The key of the last changed task whose run has begun, in another page. */
  readonly edited: number | undefined;
  /** The key of the last message that a run has accepted. */
  readonly accepted: number | undefined;
  /** Each stands behind the one that it is in. */
  readonly nodes: readonly NodeView[];
  readonly questions: readonly QuestionView[];
}

/** What a page knows of a node. */
interface Told {
  text: string;
  thought: string;
  /** All but the texts, as JSON. */
  rest: string;
  /** Whether it is a call that has ended, and does not change any more. */
  isFinal: boolean;
}

/** Knows what runs and turns have changed in files. */
interface EditsOf {
  of(run: RunNode): EditsView | undefined;
  ofTurn(turn: TurnNode): EditsView | undefined;
}

/** Knows what a page has been told. */
export class Telling {
  private readonly told = new Map<string, Told>();
  private readonly changed = new Set<Node>();
  private isWhole = true;
  isReplying = false;
  edited: number | undefined;
  accepted: number | undefined;

  /** The root runs of the conversation, in order. */
  readonly runs: RunNode[] = [];
  shared: readonly SharedRun[] = [];

  constructor(
    conversation: Conversation,
    private readonly edits: EditsOf,
  ) {
    this.show(conversation);
  }

  /** The page shows these runs from now on. */
  show({ shared, runs }: Conversation): void {
    this.shared = shared;
    this.runs.splice(0, this.runs.length, ...runs);
    this.forget();
  }

  get newest(): RunNode {
    return this.runs.at(-1) as RunNode;
  }

  /** The page begins anew, or has not begun yet. */
  forget(): void {
    this.told.clear();
    this.isWhole = true;
  }

  add(run: RunNode): void {
    this.runs.push(run);
    this.changed.add(run);
  }

  note(nodes: readonly Node[]): void {
    nodes.forEach((node) => this.changed.add(node));
  }

  state(questions: readonly QuestionView[]): PageState {
    const { newest, isWhole } = this;
    const nodes = new Set(isWhole ? [...this.shared.map(({ run }) => run), ...this.runs] : [...this.changed].flatMap(concerned));
    const views: NodeView[] = [];
    nodes.forEach((node) => this.tell(node, views));
    this.changed.clear();
    this.isWhole = false;
    const asks = questions.map(({ agent }) => `${agent} asks you`);
    const idle = idleInWords(newest);
    return {
      isWhole,
      runId: newest.runId,
      title: shortened(`${newest.agent}: ${newest.forkedFrom ? 'fork of ' : ''}${(this.shared[0]?.run ?? this.runs[0])?.task ?? ''}`, HEADING),
      agent: newest.agent,
      spoken: joined([`${newest.agent}: ${idle || inWords(newest.status)}`, ...new Set(asks)], ', '),
      isGoing: newest.status === 'running',
      canContinue: mayContinue(newest),
      isInterrupted: mayContinue(newest) && newest.status === 'killed',
      isReplying: this.isReplying,
      edited: this.edited,
      accepted: this.accepted,
      nodes: views,
      questions,
    };
  }

  /** A node, if the page knows it otherwise, and all below it that the page does not know. */
  private tell(node: Node, views: NodeView[]): void {
    const id = idOf(node);
    const known: Told = this.told.get(id) ?? { text: '', thought: '', rest: '', isFinal: false };
    if (known.isFinal) {
      return;
    }
    this.told.set(id, known);
    known.isFinal = node.kind === 'call' && node.ended !== undefined;
    const view = this.viewOf(node, id, known);
    const { text: _text, thought: _thought, ...others } = { text: '', thought: '', ...view };
    const rest = JSON.stringify(others);
    if (rest !== known.rest || (view.kind === 'turn' && view.text.more + view.thought.more !== '')) {
      views.push(view);
    }
    known.rest = rest;
    this.childrenOf(node).filter((child) => !this.told.has(idOf(child))).forEach((child) => this.tell(child, views));
  }

  private viewOf(node: Node, id: string, known: Told): NodeView {
    const parent = parentOf(node);
    const view = {
      id,
      parent: parent && idOf(parent),
      status: node.status,
      state: (node.kind === 'run' && idleInWords(node)) || inWords(node.status),
      began: node.began,
      ended: node.ended,
      children: this.childrenOf(node).map(idOf),
    };
    switch (node.kind) {
      case 'run':
        return { ...view, ...ofRun(node), ...this.shareOf(node) };
      case 'turn':
        return { ...view, ...ofTurn(node), thought: grown(known, 'thought', node.thought), text: grown(known, 'text', answerOf(node)), edits: this.isShared(node) ? undefined : this.edits.ofTurn(node) };
      case 'call':
        return { ...view, ...ofCall(node) };
    }
  }

  private isShared(node: Node): boolean {
    return this.shared.some(({ run }) => run.runId === runOf(node).rootRunId);
  }

  /** Of a former run only what the fork shares counts; the fork answers the same task. */
  private shareOf(run: RunNode) {
    const shared = this.shared.find((each) => each.run === run);
    if (shared) {
      const turns = shared.before === Infinity ? 'shared' : `turns before ${shared.before} are shared`;
      return { isShared: true, state: turns, figures: '', error: '', changes: '', queue: [] };
    }
    const isBelowItsTask = run === this.runs[0] && run.forkedFrom !== undefined && this.shared.at(-1)?.before !== Infinity && this.shared.length > 0;
    return { isShared: false, ...(isBelowItsTask && { task: '' }), edits: this.isShared(run) ? undefined : this.edits.of(run), remedies: run === this.newest ? remediesOf(run) : undefined };
  }

  private childrenOf(node: Node): readonly Node[] {
    const before = this.shared.find(({ run }) => run === node)?.before;
    return before === undefined ? childrenOf(node) : childrenOf(node).filter((child) => child.kind === 'turn' && child.number < before);
  }
}

/** A tree names the node that holds what has changed: those above show its figures, its own turns and calls end with it. */
function concerned(node: Node): Node[] {
  return [...above(node), node, ...own(node)];
}

function above(node: Node): Node[] {
  const parent = parentOf(node);
  return parent ? [...above(parent), parent] : [];
}

/** Turns and calls, but no agents that were called. */
function own(node: Node): Node[] {
  return childrenOf(node).flatMap((child) => (child.kind === 'run' ? [] : [child, ...own(child)]));
}

function ofRun(run: RunNode) {
  const used = usedBy(run);
  const has = used.inputTokens + used.outputTokens > 0;
  return {
    kind: 'run',
    runId: run.runId,
    agent: nameOf(run),
    model: run.model,
    heading: shortened(run.description ?? run.task, HEADING),
    task: run.task,
    outcome: outcomeOf(run),
    isSide: run.side !== undefined,
    queue: [...run.queue.values()],
    error: run.error && run.error !== run.status ? run.error : '',
    changes: run.changes ?? '',
    unapplied: run.unapplied !== undefined,
    figures: joined([forkInWords(run.forkedFrom), run.place ? placeInWords(run.place) : '', incompleteInWords(run.incomplete), has ? tokensInWords(used) : '', money(used.cost)]),
  } as const;
}

/** Of a turn whose request waits for a time that is known. */
function waitOf({ status, state, retries, text, thought }: TurnNode): TurnView['wait'] {
  const last = retries.at(-1);
  if (status !== 'running') {
    return undefined;
  }
  if (state) {
    const until = 'provider' in state && state.waitMs !== undefined ? Date.parse(state.time) + state.waitMs : undefined;
    return until === undefined ? undefined : { what: 'The request is sent', until };
  }
  return last && text === '' && thought === '' ? { what: `The request is sent again, ${last.attempt} of ${last.maxAttempts}`, until: Date.parse(last.time) + last.waitMs } : undefined;
}

/** Of a run that has ended. */
function outcomeOf({ ended, error, turns }: RunNode): string {
  return ended === undefined ? '' : shortened(error ?? inOneLine(turns.at(-1)?.text ?? ''), HEADING);
}

/** The beginning of a text without the marks of Markdown. */
function inOneLine(text: string): string {
  return text.slice(0, 2 * HEADING).replaceAll(/[#*\x60]/g, '');
}

function ofTurn(turn: TurnNode) {
  const retries = turn.retries.map((retry) => `sent again after ${duration(retry.waitMs)}, ${retry.attempt} of ${retry.maxAttempts}: ${retry.message}`);
  const state = turn.status === 'running' && turn.state ? [stateInWords(turn.state)] : [];
  return {
    kind: 'turn',
    number: turn.number,
    given: turn.run.given.filter((each) => each.turn === turn.number).map((each) => ({ heading: givenInWords(each), text: each.text, isMessage: each.sideRuns.length === 0 })),
    heading: shortened(inOneLine(turn.text), HEADING),
    notes: [...retries, ...turn.contexts.map(roomMade), ...state],
    wait: waitOf(turn),
    figures: joined([
      incompleteInWords(turn.incomplete),
      turn.used && tokensInWords(turn.used),
      money(turn.used?.cost),
      turn.calls.length > 0 ? count(turn.calls.length, 'tool call') : '',
    ]),
  } as const;
}

function ofCall(call: CallNode) {
  const given = call.arguments;
  const path = textOf(given['path']);
  return {
    kind: 'call',
    name: call.name,
    subject: shortened(path || textOf(given['command']) || textOf(given['url']) || textOf(given['query']) || textOf(given['question']), HEADING),
    path: path || undefined,
    change: changeIn(call),
    arguments: JSON.stringify(given, undefined, 2),
    result: call.content,
    figures: '',
  } as const;
}

/** Turns before that of a fork are those of the former run. */
function forkInWords(fork: Fork | undefined): string {
  return fork ? `fork of run ${fork.runId.slice(0, 8)} at turn ${fork.turn}` : '';
}

/** What a call of one of the tools that change files writes and takes away. */
function changeIn({ name, arguments: given }: CallNode): string | undefined {
  if (name === 'edit_file') {
    return difference(textOf(given['old_string']), textOf(given['new_string'])).join('\n');
  }
  return name === 'write_file' ? difference('', textOf(given['content'])).join('\n') : undefined;
}

/** Between the lines that both begin and end with: those that go, and those that come. */
function difference(before: string, after: string): string[] {
  const [old, young] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, young.length);
  let first = 0;
  while (first < shorter && old[first] === young[first]) {
    first += 1;
  }
  let last = 0;
  while (last < shorter - first && old.at(-1 - last) === young.at(-1 - last)) {
    last += 1;
  }
  return [
    ...old.slice(0, first).map((line) => ` ${line}`),
    ...old.slice(first, old.length - last).map((line) => `-${line}`),
    ...young.slice(first, young.length - last).map((line) => `+${line}`),
    ...old.slice(old.length - last).map((line) => ` ${line}`),
  ];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A text is told whole if it does not go on with what was told. */
function grown(known: Told, which: 'text' | 'thought', now: string): Growing {
  const before = known[which];
  const kept = now.startsWith(before) ? before.length : 0;
  known[which] = now;
  return { kept, more: now.slice(kept) };
}

export type Asked = { readonly ends: number | undefined } & (
  | { readonly kind: 'approval'; readonly question: Question }
  | { readonly kind: 'inquiry'; readonly question: Inquiry }
);

/** `key` names the question in answers of the page; `run` is the one that asks. */
export function questionView(asked: Asked, key: number, run: RunNode | undefined, now: number): QuestionView {
  const { runId, reason } = asked.question;
  const agent = asked.question.side ?? asked.question.agent;
  const call = run && askingCall(run, asked.question.callId);
  const leftMs = asked.ends === undefined ? undefined : asked.ends - now;
  const view = { key, at: call && idOf(call), leftMs, runId, agent, message: reason, details: documentText(asked.question) };
  if (asked.kind === 'inquiry') {
    return { ...view, kind: 'inquiry', hasChange: false, choices: asked.question.choices ?? [] };
  }
  const asks = asked.question;
  return {
    ...view,
    kind: 'approval',
    hasChange: changeOf(asks) !== undefined,
    forRun: asks.forRun && forRunLabel(asks),
    always: alwaysOf(asks)?.label,
    isEdit: isEdit(asks),
    choices: [],
  };
}
