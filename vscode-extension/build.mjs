// Bundles the extension into out/extension.js, and beside it the licences of what went in.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const { metafile } = await build({
  entryPoints: ['src/extension.ts'],
  outfile: 'out/extension.js',
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  logLevel: 'warning',
  metafile: true,
});

const packages = Object.keys(metafile.inputs).map((file) => file.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]);
const licences = [...new Set(packages)].filter(Boolean).sort().map(licence);
writeFileSync('out/third-party-licenses.txt', licences.join('\n'));

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) {
    throw new Error(`${name} goes into the bundle and has no licence file`);
  }
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8')}\n`;
}
