// A run as a waterfall: a bar for each turn, tool call and agent, one below the other, placed by time. Knows nothing of VS Code.

import { count, duration, joined, money, tokens, tokensInWords } from './figures';
import { childrenOf, durationOf, idOf, nameOf, usedBy, type IdleTime, type Node, type RunNode, type Status } from './nodes';
import { incompleteInWords, inWords, rowOf } from './presenting';

export interface Bar {
  readonly id: string;
  readonly kind: Node['kind'] | 'idle';
  readonly status: Status;
  readonly label: string;
  /** How deep it stands below the root, which is 1. */
  readonly level: number;
  /** In milliseconds since the root began. */
  readonly begins: number;
  readonly lasts: number;
  /** Time, tokens and cost. */
  readonly figures: string;
  /** What there is to know of it, a line each. */
  readonly details: string;
  /** For screen readers. */
  readonly spoken: string;
}

export interface Timeline {
  readonly runId: string;
  readonly title: string;
  /** For screen readers, when it changes. */
  readonly state: string;
  readonly summary: string;
  readonly lasts: number;
  readonly bars: readonly Bar[];
}

export function timelineOf(root: RunNode, now: number): Timeline {
  const used = usedBy(root);
  const lasts = durationOf(root, now);
  const bars = barsOf(root, root.began, now, 1);
  const turns = bars.filter((bar) => bar.kind === 'turn').length;
  return {
    runId: root.runId,
    title: root.agent,
    state: `${root.agent}: ${inWords(root.status)}`,
    summary: joined([inWords(root.status), incompleteInWords(root.incomplete), duration(lasts), count(turns, 'turn'), tokensInWords(used), money(used.cost)]),
    lasts: Math.max(lasts, ...bars.map((bar) => bar.begins + bar.lasts)),
    bars,
  };
}

function barsOf(node: Node, origin: number, now: number, level: number): Bar[] {
  const begins = Math.max(0, node.began - origin);
  const row = rowOf(node, now);
  const label = node.kind === 'run' ? nameOf(node) : row.label;
  const bar: Bar = {
    id: idOf(node),
    kind: node.kind,
    status: node.status,
    label: node.kind !== 'call' && node.incomplete ? `${label} ⚠` : label,
    level,
    begins,
    lasts: durationOf(node, now),
    figures: figuresOf(node, now),
    details: row.tooltip,
    spoken: `${row.spoken}; begins after ${duration(begins)}`,
  };
  const parts = childrenOf(node).map((child) => ({ began: child.began, bars: barsOf(child, origin, now, level + 1) }));
  const waits = node.kind === 'run' ? node.idleTimes.map((idle, index) => ({ began: idle.began, bars: [idleBar(node, index, idle, now, origin, level + 1)] })) : [];
  const ordered = waits.length > 0 ? [...parts, ...waits].sort((one, other) => one.began - other.began) : parts;
  return [bar, ...ordered.flatMap(({ bars }) => bars)];
}

/** A wait for side runs. */
function idleBar(run: RunNode, index: number, idle: IdleTime, now: number, origin: number, level: number): Bar {
  const begins = Math.max(0, idle.began - origin);
  const lasts = durationOf(idle, now);
  const label = `waits for ${idle.sideRuns.join(', ')}`;
  const details = `${nameOf(run)} ${label}, ${duration(lasts)}`;
  return {
    id: `${run.runId}/idle/${index}`,
    kind: 'idle',
    status: idle.ended === undefined ? 'running' : 'completed',
    label,
    level,
    begins,
    lasts,
    figures: duration(lasts),
    details,
    spoken: `${details}; begins after ${duration(begins)}`,
  };
}

function figuresOf(node: Node, now: number): string {
  const used = node.kind === 'run' ? usedBy(node) : node.kind === 'turn' ? node.used : undefined;
  const has = used && used.inputTokens + used.outputTokens > 0;
  return joined([duration(durationOf(node, now)), has ? tokens(used) : '', money(used?.cost)]);
}

/** Round moments, some tenth of a page apart, that an axis of that length shows. */
export function ticksOf(lasts: number, most: number): readonly number[] {
  const step = stepOf(lasts / Math.max(1, most));
  const ticks = Math.floor(lasts / step) + 1;
  return Array.from({ length: ticks }, (_, index) => index * step);
}

/** The smallest of 1, 2 and 5 times a power of ten that is no less. Milliseconds have no parts. */
function stepOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}
