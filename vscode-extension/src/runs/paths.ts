// Paths as a reader knows them. Knows nothing of VS Code.

import { isAbsolute, relative, sep } from 'node:path';

/** Below one of the folders its way from there, else the whole path. */
export function shownPath(path: string, folders: readonly string[]): string {
  const ways = folders.filter(Boolean).map((folder) => relative(folder, path));
  const inside = ways.find((way) => way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
  return (inside ?? path).replaceAll(sep, '/');
}
