// Names on lines, and texts as the server compares them.

import { createHash } from 'node:crypto';

/** The column of the first whole word `name` on a line, or -1. */
export function columnOf(line: string, name: string): number {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return name ? line.search(new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u')) : -1;
}

/** The digest of a text with LF as line ends and without a byte order mark. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text.replace(/^\uFEFF/, '').replace(/\r\n/g, '\n')).digest('hex');
}
