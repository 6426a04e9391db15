// Bundles the extension into out/extension.js, the pages of its webviews into files beside it, and writes the licences of
// what went in.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const PAGES = ['graph', 'inputForm', 'runPage', 'timeline'];

const common = { outdir: 'out', bundle: true, minify: true, logLevel: 'warning' };

const { metafile } = await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  metafile: true,
});

const { metafile: pages } = await build({
  ...common,
  entryPoints: PAGES.map((name) => `src/webviews/browser/${name}.ts`),
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
  metafile: true,
});

const packages = Object.keys({ ...metafile.inputs, ...pages.inputs }).map((file) => file.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]);
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
