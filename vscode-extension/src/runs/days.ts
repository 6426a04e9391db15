// Runs grouped by the day on which they began. Knows nothing of VS Code.

import type { RunNode } from './nodes';

export interface Day {
  /** The day's first moment. */
  readonly begins: number;
  readonly label: string;
  readonly runs: readonly RunNode[];
}

/** `runs` come newest first, and so do the days. `locale` is the user's own unless a test says otherwise. */
export function byDay(runs: readonly RunNode[], now: number, locale?: string): readonly Day[] {
  const days = new Map<number, RunNode[]>();
  for (const run of runs) {
    const begins = beginningOfDay(run.began);
    days.set(begins, [...(days.get(begins) ?? []), run]);
  }
  return [...days].map(([begins, ofDay]) => ({ begins, label: labelOf(begins, now, locale), runs: ofDay }));
}

export function beginningOfDay(moment: number): number {
  return new Date(moment).setHours(0, 0, 0, 0);
}

function labelOf(begins: number, now: number, locale: string | undefined): string {
  const today = beginningOfDay(now);
  if (begins === today) {
    return 'Today';
  }
  if (begins === beginningOfDay(today - 1)) {
    return 'Yesterday';
  }
  const year = new Date(begins).getFullYear() === new Date(now).getFullYear() ? {} : ({ year: 'numeric' } as const);
  return new Date(begins).toLocaleDateString(locale, { weekday: 'long', month: 'long', day: 'numeric', ...year });
}
