// What happened, as Markdown: a whole run, one turn, one tool call. Of what is under way it says how far it has got.
// Knows nothing of VS Code.

import type { Happening } from '../protocol';
import { count, duration, givenInWords, joined, money, roomMade, tokensInWords, whole } from './figures';
import { durationOf, nameOf, usedBy, type CallNode, type Node, type RunNode, type TurnNode } from './nodes';
import { answerOf, idleInWords, incompleteInWords, inWords } from './presenting';

/** Of the result of a tool, events hold no more. */
const MOST_CHARACTERS = 20_000;

/** A section of its own, which folds, and is quoted: what was thought is no part of the answer. */
const THINKING = 'Thinking';
const ANSWER = 'Answer';

const DEEPEST_HEADING = 6;

export function documentOf(node: Node, now: number): string {
  switch (node.kind) {
    case 'run':
      return section(runParts(node, now, 1));
    case 'turn':
      return section([`# ${nameOf(node.run)}, turn ${node.number}`, ...turnParts(node, now, 2)]);
    case 'call':
      return section([`# ${node.name}`, `Called by ${nameOf(node.turn.run)} in turn ${node.turn.number}.`, ...callParts(node, now)]);
  }
}

/** The name of the document, which becomes the title of its tab. */
export function documentName(node: Node): string {
  switch (node.kind) {
    case 'run':
      return nameOf(node);
    case 'turn':
      return `${nameOf(node.run)} turn ${node.number}`;
    case 'call':
      return `${nameOf(node.turn.run)} ${node.name}`;
  }
}

/** Lines of JSON, as `axe-lsp history export` prints them. */
export function exported(events: readonly Happening[]): string {
  return events.map(({ method, params }) => `${JSON.stringify({ method, params })}\n`).join('');
}

function runParts(run: RunNode, now: number, level: number): string[] {
  const used = usedBy(run);
  const head = joined([
    run.side === undefined ? '' : `side run of ${run.agent}`,
    inWords(run.status),
    idleInWords(run),
    marked(run),
    duration(durationOf(run, now)),
    count(run.turns.length, 'turn'),
    tokensInWords(used),
    money(used.cost),
    run.model,
  ]);
  const below = level + 1;
  return [
    heading(level, nameOf(run)),
    head,
    ...(run.task ? [heading(below, 'Task'), quoted(run.task)] : []),
    ...run.turns.flatMap((turn) => [heading(below, `Turn ${turn.number}`), ...turnParts(turn, now, below + 1)]),
    ...run.strays.flatMap((stray) => runParts(stray, now, below)),
    ...(run.error && run.error !== run.status ? [heading(below, 'Error'), fenced(run.error)] : []),
  ];
}

function turnParts(turn: TurnNode, now: number, level: number): string[] {
  const head = joined([
    inWords(turn.status),
    marked(turn),
    duration(durationOf(turn, now)),
    turn.used && tokensInWords(turn.used),
    money(turn.used?.cost),
    turn.stopReason,
    `${count(turn.messages, 'message')} sent`,
  ]);
  const retries = turn.retries.map(
    (retry) => `- sent again after ${duration(retry.waitMs)}, ${retry.attempt} of ${retry.maxAttempts}: ${retry.message}`,
  );
  const given = turn.run.given.filter((each) => each.turn === turn.number);
  return [
    head,
    ...given.flatMap((each) => [`Given: ${givenInWords(each)}`, quoted(each.text)]),
    ...(retries.length > 0 ? [retries.join('\n')] : []),
    ...turn.contexts.flatMap((event) => [`- ${roomMade(event)}`, ...('summary' in event && event.summary ? [quoted(event.summary)] : [])]),
    ...(turn.thought ? [heading(level, THINKING), quoted(turn.thought)] : []),
    ...(turn.thought && turn.text ? [heading(level, ANSWER)] : []),
    ...(turn.text ? [answerOf(turn).trimEnd()] : []),
    ...turn.calls.flatMap((call) =>
      call.child ? runParts(call.child, now, level) : [heading(level, call.name), ...callParts(call, now)],
    ),
  ];
}

function marked({ incomplete }: RunNode | TurnNode): string {
  return incomplete ? `**${incompleteInWords(incomplete)}**` : '';
}

function callParts(call: CallNode, now: number): string[] {
  const parts = [
    joined([inWords(call.status), duration(durationOf(call, now))]),
    'Arguments:',
    fenced(JSON.stringify(call.arguments, undefined, 2), 'json'),
  ];
  if (call.content === undefined) {
    return parts;
  }
  const isCut = call.content.length >= MOST_CHARACTERS;
  const cut = isCut ? [`Only the first ${whole(MOST_CHARACTERS)} characters of the result are stored.`] : [];
  return [...parts, 'Result:', result(call.content), ...cut];
}

function result(content: string): string {
  try {
    return fenced(JSON.stringify(JSON.parse(content), undefined, 2), 'json');
  } catch {
    return fenced(content);
  }
}

function heading(level: number, text: string): string {
  return `${'#'.repeat(Math.min(level, DEEPEST_HEADING))} ${text}`;
}

function quoted(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** The fence is longer than any in the text. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function section(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}
