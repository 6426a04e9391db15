// What the target of a link names. Knows nothing of VS Code.

export type Place =
  | { readonly kind: 'address'; readonly address: string }
  /** `line` counts from 1. */
  | { readonly kind: 'file'; readonly path: string; readonly line?: number | undefined }
  | { readonly kind: 'other' };

/** Addresses that a browser or a mail program opens. */
const SCHEMES = /^(?:https?|mailto):/i;

const ANY_SCHEME = /^[a-z][a-z0-9+.-]+:(?!\d+(?:$|:))/i;

/** Windows would log in at a machine that such a path names. */
const OTHER_MACHINE = /^[\\/]{2}/;

/** A path may end in `:12`, `:12:3` or `#L12`. */
const FILE = /^(?<path>[^#]+?)(?:(?::(?<colon>\d+)(?::\d+)?)|(?:#L?(?<hash>\d+).*)|#.*)?$/;

export function placeOf(target: string): Place {
  if (SCHEMES.test(target)) {
    return { kind: 'address', address: target };
  }
  const found = ANY_SCHEME.test(target) ? undefined : FILE.exec(decoded(target))?.groups;
  if (!found?.['path'] || OTHER_MACHINE.test(found['path'])) {
    return { kind: 'other' };
  }
  const line = Number(found['colon'] ?? found['hash'] ?? 0);
  return { kind: 'file', path: found['path'], line: line > 0 ? line : undefined };
}

/** markdown-it encodes the targets of links as addresses. */
function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
