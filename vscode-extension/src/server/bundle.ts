// The language server that comes with the extension, as bundle_server.py has put it there. Knows nothing of VS Code.
//
// The extension for one platform has it unpacked, with all that it needs for several versions of Python. The
// universal one has its wheel alone, from which it can be installed.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from './programs';
import type { Python } from './pythons';

const FOLDER = 'bundled';
const STARTER = 'axe-lsp.py';

export interface Bundle {
  readonly starter: string;
  accepts(version: string): boolean;
}

export function bundleIn(extension: string): Bundle | undefined {
  const folder = join(extension, FOLDER);
  const starter = join(folder, STARTER);
  if (!existsSync(starter)) {
    return undefined;
  }
  return { starter, accepts: (version) => existsSync(join(folder, `cp${version.replace('.', '')}`)) };
}

export function wheelIn(extension: string): string | undefined {
  const folder = join(extension, FOLDER);
  const wheel = existsSync(folder) && readdirSync(folder).find((name) => name.endsWith('.whl'));
  return wheel ? join(folder, wheel) : undefined;
}

/** Isolated, so that neither the workspace nor the user's own packages get in the way. */
export function bundledServer(bundle: Bundle, python: Python): Server {
  const source = `the extension, with Python ${python.version} (${python.path})`;
  return { command: python.path, args: ['-I', bundle.starter], source };
}
