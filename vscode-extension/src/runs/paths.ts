// Paths as a reader knows them. Knows nothing of VS Code.

import { isAbsolute, relative, sep } from 'node:path';

/** Below one of the folders its way from there, else the whole path. */
export function shownPath(path: string, folders: readonly string[]): string {
  const inside = waysTo(path, folders).find((way) => way !== '');
  return (inside ?? path).replaceAll(sep, '/');
}

/** Whether a path is one of the folders, or below it. */
export function isInside(path: string, folders: readonly string[]): boolean {
  return waysTo(path, folders).length > 0;
}

/** From each folder that has the path in it; empty from the folder itself. */
function waysTo(path: string, folders: readonly string[]): string[] {
  const ways = folders.filter(Boolean).map((folder) => relative(folder, path));
  return ways.filter((way) => way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
