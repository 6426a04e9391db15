// Where VS Code enters when it runs tests inside its extension host.

import Mocha from 'mocha';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: PATIENCE_MS, reporter: 'spec', color: false });
  mocha.addFile(join(__dirname, 'extension.test.js'));
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) {
    throw new Error(`${failures} tests failed`);
  }
}
