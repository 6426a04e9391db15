// A disk of a test's own.

import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export class Disk {
  private readonly root = mkdtempSync(join(tmpdir(), 'axe-disk-'));

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  /** A program that runs `script`. */
  program(...parts: string[]): string {
    return this.script(parts, '');
  }

  script(parts: readonly string[], text: string): string {
    const file = this.path(...parts);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  }
}
