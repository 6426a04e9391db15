// How past runs are offered: one item of a list for each.

import type { PastRun } from './protocol';

export interface PastRunItem {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly runId: string;
  /** Of the document that shows what happened. */
  readonly title: string;
}

const ICONS: Record<PastRun['status'], string> = {
  running: 'sync',
  completed: 'check',
  failed: 'error',
  timeout: 'watch',
  cancelled: 'circle-slash',
  killed: 'flame',
};

/** `locale` is the user's own unless a test says otherwise. */
export function pastRunItem(run: PastRun, locale?: string): PastRunItem {
  const began = new Date(run.began).toLocaleString(locale);
  return {
    label: `$(${ICONS[run.status]}) ${run.agent}`,
    description: `${run.status} · ${began}`,
    detail: (run.task ?? '').replace(/\s+/g, ' ').trim(),
    runId: run.runId,
    title: `${run.agent}, ${began.replaceAll('/', '-')}`,
  };
}
