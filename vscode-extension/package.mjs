// Packages the extension: `npm run package -- [--target PLATFORM] [--out FILE]`. For a platform, such as linux-x64, the
// language server is in it; else only its wheel is, from which the extension can install it.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { target: { type: 'string' }, out: { type: 'string' } } });
const platform = values.target ? [values.target] : [];
const file = values.out ?? ['axe-lsp', ...platform].join('-') + '.vsix';

run(process.env.PYTHON ?? 'python3', 'server-bundle/bundle.py', ...platform);
// Reading thousands of files of other packages for secrets takes minutes; ours are read for the universal extension.
const unread = ['--allow-package-all-secrets', '--allow-package-env-file'];
const target = values.target ? ['--target', values.target, ...unread] : [];
const links = ['--allow-missing-repository', '--no-rewrite-relative-links', '--readme-path', readmeWithPictures('out/README.md')];
run('npx', 'vsce', 'package', '--no-dependencies', ...links, ...target, '--out', file);

/** The page of an extension shows only pictures of the network, and such as are in its text. */
function readmeWithPictures(target) {
  const text = readFileSync('README.md', 'utf8');
  const picture = (_, title, path) => `![${title}](data:image/png;base64,${readFileSync(path, 'base64')})`;
  mkdirSync('out', { recursive: true });
  writeFileSync(target, text.replaceAll(/!\[(.*?)\]\((.*?\.png)\)/g, picture));
  return target;
}

function run(...[command, ...options]) {
  const { status, error } = spawnSync(command, options, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (error || status !== 0) {
    console.error(error?.message ?? `${command} failed`);
    process.exit(1);
  }
}
