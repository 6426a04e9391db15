// What helps a run that has failed, by its error. Knows nothing of VS Code.

import { mayContinue, type RunNode } from '../runs/nodes';

/** What the page of a failed run offers. */
export interface RemedyView {
  /** The key that is missing or refused: the name of its variable, or else of its provider. */
  readonly key?: { readonly variable: string } | { readonly provider: string } | undefined;
  /** How it is tried once more: the run goes on, or a new one begins. */
  readonly retry: 'continue' | 'again';
  /** Whether another model may succeed. */
  readonly canSwitch: boolean;
}

/** The variable that the message about a missing key names. */
const MISSING_KEY = /\(set (?<variable>[A-Z][A-Z0-9_]*) /;

/** The kinds of errors of providers, with which their messages begin. */
const OF_PROVIDER = /^(?:rate_limit|overloaded|server|timeout|auth|quota|bad_request|context_overflow): /;

/** Returns the remedies of a root run; none if it has not failed. */
export function remediesOf(run: RunNode): RemedyView | undefined {
  if (run.status !== 'failed' || !run.error) {
    return undefined;
  }
  const variable = MISSING_KEY.exec(run.error)?.groups?.['variable'];
  const provider = run.error.startsWith('auth: ') ? run.model.split('/')[0] : undefined;
  return {
    key: variable ? { variable } : provider ? { provider } : undefined,
    retry: mayContinue(run) ? 'continue' : 'again',
    canSwitch: (variable !== undefined || OF_PROVIDER.test(run.error)) && run.turns.length > 0,
  };
}
