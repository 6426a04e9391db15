// The user's config.toml, where the server looks for it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Uri, window } from 'vscode';
import { showInformation } from '../messages';
import type { Server } from './programs';
import { told } from './told';

const CREATE = 'Create It';

/** Opens it, or offers to make a first one. Fails with what the server says. */
export async function openConfig(server: Server): Promise<void> {
  const file = join((await told(server, 'config', 'path')).trim(), 'config.toml');
  if (!existsSync(file)) {
    if ((await showInformation(`There is no ${file} yet.`, CREATE)) !== CREATE) {
      return;
    }
    await told(server, 'config', 'init');
  }
  await window.showTextDocument(Uri.file(file), { preview: false });
}
