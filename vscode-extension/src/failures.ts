// What helps after a failure, by what the server says. Knows nothing of VS Code.

export type Remedy =
  /** `variable` is that of the key, if it is known which one is missing. */
  | { readonly kind: 'key'; readonly variable?: string | undefined }
  | { readonly kind: 'settings' }
  /** `line` and `column` count from 1. */
  | { readonly kind: 'place'; readonly path: string; readonly line: number; readonly column: number }
  | { readonly kind: 'problems' }
  /** What the run has done until it failed. */
  | { readonly kind: 'run'; readonly runId: string }
  | { readonly kind: 'log' };

/** A failed request as the server answers it: `data.reason` is a word for programs. */
export interface Failure {
  readonly message: string;
  readonly code?: number | undefined;
  readonly data?: unknown;
}

/** JSON-RPC's code for a fault of the server itself, which its log describes. */
const INTERNAL = -32603;

const PLACE = /The error is at (?<path>.+):(?<line>\d+):(?<column>\d+)$/;

export function remediesOf({ message, code, data }: Failure): readonly Remedy[] {
  switch ((data as { reason?: unknown } | undefined)?.reason) {
    case 'missingKey':
      return [{ kind: 'key', variable: /\(set ([A-Z][A-Z0-9_]*) /.exec(message)?.[1] }, { kind: 'settings' }];
    case 'auth':
      return [{ kind: 'key' }, { kind: 'settings' }];
  }
  const place = PLACE.exec(message)?.groups;
  if (place?.['path']) {
    return [{ kind: 'place', path: place['path'], line: Number(place['line']), column: Number(place['column']) }];
  }
  if ((data as { kind?: unknown } | undefined)?.kind === 'config') {
    return [{ kind: 'problems' }];
  }
  const runId = runThatFailed(data);
  if (runId !== undefined) {
    return [{ kind: 'run', runId }];
  }
  return code === INTERNAL ? [{ kind: 'log' }] : [];
}

/** The id of the root run that has failed, if one had begun. */
function runThatFailed(data: unknown): string | undefined {
  const { runId } = (data ?? {}) as { runId?: unknown };
  return typeof runId === 'string' ? runId : undefined;
}

/** Whether the page of the run, which the user has in front of them, tells a failure, and nothing else would help. */
export function isToldByPage(failure: Failure, isInSight: (runId: string) => boolean): boolean {
  const [first] = remediesOf(failure);
  return first?.kind === 'run' && isInSight(first.runId);
}
