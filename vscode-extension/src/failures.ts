// What helps after a failure, by what the server says. Knows nothing of VS Code.

export type Remedy =
  /** `variable` is that of the key, if it is known which one is missing. */
  | { readonly kind: 'key'; readonly variable?: string | undefined }
  | { readonly kind: 'settings' }
  /** `line` and `column` count from 1. */
  | { readonly kind: 'place'; readonly path: string; readonly line: number; readonly column: number }
  | { readonly kind: 'problems' }
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
  return code === INTERNAL ? [{ kind: 'log' }] : [];
}
