// How a node of a run is shown in the tree: its words, its icon, and what a screen reader says. Knows nothing of VS Code.

import { count, duration, joined, money, placeInWords, roughTimeLeft, shortened, tail, tokens, tokensInWords, stateInWords } from './figures';
import type { Incomplete } from '../protocol';
import { durationOf, idleOf, mayContinue, nameOf, runOf, usedBy, type CallNode, type Node, type RunNode, type Status, type TurnNode } from './nodes';

const MOST = 100;

/** Characters of a task in the label of a row. */
const HEAD = 60;

/** Of one that asks, so that there is room for the question. */
const ASKING_HEAD = 24;

export interface Row {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: { readonly id: string; readonly color: string | undefined };
  readonly spoken: string;
  /** Words that the menus look for. */
  readonly context: string;
}

/** What a run asks: to be allowed something, or an answer. */
export interface Asks {
  readonly kind: 'approval' | 'inquiry';
  readonly purpose: string;
  /** When it is withdrawn, in milliseconds since 1970, if it is. */
  readonly ends?: number | undefined;
}

/** `asks` are the questions of a run that are open. */
export function rowOf(node: Node, now: number, asks: readonly Asks[] = []): Row {
  const { label: name, ...texts } = textsOf(node, now);
  const isRoot = node.kind === 'run' && node.depth === 0;
  const label = isRoot ? `${timeOfDay(node.began)} ${shortened(node.task, HEAD) || name}` : name;
  const who = isRoot ? name : '';
  const state = node.status === 'running' ? 'running' : 'ended';
  const kind = kindOf(node);
  if (asks[0] !== undefined) {
    const asked = joined([asks.length > 1 ? `1 of ${asks.length} questions` : '', asks[0].purpose], ': ');
    const left = asks[0].ends === undefined ? '' : roughTimeLeft(asks[0].ends - now);
    return {
      label: isRoot ? shortened(label, ASKING_HEAD) : label,
      description: joined([left, shortened(joined([who, asked], ' '), 2 * MOST)]),
      tooltip: joined([asked, texts.tooltip], '\n'),
      icon: { id: 'question', color: 'list.warningForeground' },
      spoken: joined([name, 'asks you', asked], ', '),
      context: `${kind} ${asks[0].kind === 'approval' ? 'asking' : 'inquiring'} ${state}`,
    };
  }
  const spoken = joined([name, inWords(node.status), ...texts.spoken], ', ');
  const icon = node.kind !== 'call' && node.incomplete && node.status === 'completed' ? CUT : iconOf(node.status);
  const context = `${kind} ${state}${kind === 'root run' && state === 'ended' ? remainder(node) : ''}`;
  return { label, description: joined([who, texts.description]), tooltip: texts.tooltip, icon, spoken, context };
}

/** The hour and minute, by which runs of one task are told apart. */
function timeOfDay(moment: number): string {
  return new Date(moment).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** Whether there is something to go on with in a run that has ended. */
function remainder(node: Node): string {
  if (node.status === 'completed') {
    return '';
  }
  return node.kind === 'run' && mayContinue(node) ? ' unfinished' : ' final';
}

/** As the menus tell rows apart: what can be done with a root run, or at a turn of it. */
function kindOf(node: Node): string {
  const isOfRoot = runOf(node).depth === 0;
  if (isOfRoot && node.kind === 'run') {
    return 'root run';
  }
  return isOfRoot && node.kind === 'turn' ? 'main turn' : node.kind;
}

const ICONS: Record<Status, readonly [id: string, color?: string]> = {
  running: ['loading~spin'],
  completed: ['pass', 'testing.iconPassed'],
  failed: ['error', 'testing.iconFailed'],
  timeout: ['watch', 'testing.iconFailed'],
  killed: ['flame', 'testing.iconFailed'],
  cancelled: ['circle-slash', 'testing.iconSkipped'],
  denied: ['shield', 'testing.iconFailed'],
};

/** Of an answer that is not whole. */
const CUT = { id: 'warning', color: 'list.warningForeground' };

export function iconOf(status: Status): Row['icon'] {
  const [id, color] = ICONS[status];
  return { id, color };
}

export function inWords(status: Status): string {
  return status === 'timeout' ? 'timed out' : status;
}

interface Texts {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly spoken: readonly string[];
}

function textsOf(node: Node, now: number): Texts {
  switch (node.kind) {
    case 'run':
      return textsOfRun(node, now);
    case 'turn':
      return textsOfTurn(node, now);
    case 'call':
      return textsOfCall(node, now);
  }
}

const INCOMPLETE: Record<Incomplete, string> = {
  length: 'cut off at the output limit',
  context_window: 'context window full',
  content_filter: 'stopped by a content filter',
  refusal: 'refused by the model',
  paused: 'paused by the provider',
  malformed_call: 'malformed call',
  interrupted: 'broken off by a message',
};

/** What is wrong with an answer; empty if it is whole. A later server may know more reasons. */
export function incompleteInWords(incomplete: Incomplete | undefined): string {
  return incomplete ? (INCOMPLETE[incomplete] ?? incomplete) : '';
}

const UNAPPLIED = { all: 'changes not applied', some: 'some changes not applied' };

function textsOfRun(run: RunNode, now: number): Texts {
  const used = usedBy(run);
  const time = duration(durationOf(run, now));
  const about = shortened(run.description ?? run.task, MOST);
  const error = run.error && run.error !== run.status ? run.error : incompleteInWords(run.incomplete);
  const place = run.place ? placeInWords(run.place) : '';
  const waits = joined([waitingElsewhere(run), idleInWords(run)]);
  const queued = run.queue.size > 0 ? `${count(run.queue.size, 'message')} waiting` : '';
  const side = run.side === undefined ? '' : 'side run';
  const copy = run.status === 'running' ? run.place : undefined;
  const unapplied = run.unapplied ? UNAPPLIED[run.unapplied] : '';
  return {
    label: nameOf(run),
    description: joined([side, time, waits, queued, place, hasUsed(run) ? tokens(used) : '', money(used.cost), unapplied, shortened(error, MOST) || (run.depth > 0 ? about : '')]),
    tooltip: joined(
      [
        `${nameOf(run)}: ${inWords(run.status)}`,
        run.side === undefined ? '' : `side run of the agent ${run.agent}`,
        `${new Date(run.began).toLocaleString()}, ${time}`,
        waits,
        queued,
        joined([run.model, tokensInWords(used), money(used.cost)], ', '),
        run.workspace,
        place,
        copy?.folder && `copy: ${copy.folder}`,
        copy?.ref,
        run.changes,
        error,
        run.task,
      ],
      '\n',
    ),
    spoken: [side, time, waits, queued, place, hasUsed(run) ? tokensInWords(used) : '', money(used.cost), unapplied, shortened(error, MOST), about],
  };
}

/** That somebody is to answer at the place where it was started; empty if not. */
export function waitingElsewhere(run: RunNode): string {
  return run.status === 'running' && run.waitsElsewhere ? 'waits for an answer elsewhere' : '';
}

/** The side runs for which a run waits; empty if it does not. */
export function idleInWords(run: RunNode): string {
  const idle = idleOf(run);
  return idle ? `waits for ${idle.sideRuns.join(', ')}` : '';
}

function textsOfTurn(turn: TurnNode, now: number): Texts {
  const isRunning = turn.status === 'running';
  const time = duration(durationOf(turn, now));
  const used = turn.used ? tokens(turn.used) : '';
  const mark = incompleteInWords(turn.incomplete);
  const said = isRunning ? tail(turn.text, MOST) || (turn.thought && 'thinking') : joined([mark, shortened(turn.text, MOST)], ': ');
  const retry = turn.retries.at(-1);
  const after = retry && !turn.text ? `waits after ${retry.category}: ${shortened(retry.message, MOST)}` : '';
  const again = isRunning ? (turn.state ? shortened(stateInWords(turn.state), MOST) : after) : '';
  return {
    label: `Turn ${turn.number}`,
    description: joined([time, used, money(turn.used?.cost), again || said]),
    tooltip: joined([`Turn ${turn.number}, ${time}`, mark, turn.used && tokensInWords(turn.used), shortened(turn.text, 1000)], '\n'),
    spoken: [time, turn.used ? tokensInWords(turn.used) : '', count(turn.calls.length, 'tool call'), again || said],
  };
}

function textsOfCall(call: CallNode, now: number): Texts {
  const time = duration(durationOf(call, now));
  const asked = Object.entries(call.arguments).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const went = call.status === 'failed' || call.status === 'denied' ? (call.content ?? '') : '';
  const about = shortened(went || asked.join(' '), MOST);
  return {
    label: call.name,
    description: joined([time, about]),
    tooltip: joined([`${call.name}: ${inWords(call.status)}, ${time}`, shortened(asked.join('\n'), 1000), shortened(went, 1000)], '\n'),
    spoken: [time, about],
  };
}

function hasUsed(run: RunNode): boolean {
  const { inputTokens, outputTokens } = usedBy(run);
  return inputTokens + outputTokens > 0;
}

/** The answer of a turn as Markdown, with its sources as links below it. Titles are the provider's, so they are escaped. */
export function answerOf({ text, sources = [] }: TurnNode): string {
  const lines = sources.map(({ url = '', title = '' }, index) => {
    const name = (title || url).replaceAll(/[\\`*_[\]<>!|#]/g, '\\$&');
    const target = url.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll('>', '%3E');
    return `${index + 1}. ${url ? `[${name}](${target})` : name}`;
  });
  return lines.length > 0 ? [text.trimEnd(), '', '**Sources**', '', ...lines].join('\n') : text;
}
