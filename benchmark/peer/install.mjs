// Installs the TypeScript peer from npm into this folder, once; quick when it is there.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const lockfile = join(folder, 'package-lock.json');
// A copy of the lockfile, written last: an installation that was interrupted or is out of date is done again.
const receipt = join(folder, 'node_modules', '.installed-lockfile');

const isInstalled = () =>
  existsSync(receipt) && readFileSync(receipt, 'utf8') === readFileSync(lockfile, 'utf8');

/**
 * npm's command line: of the Node.js that runs, else the one on the PATH.
 * @returns {[string, string[]]} program and first arguments
 */
function npmCommand() {
  if (process.env.npm_execpath?.endsWith('.js')) return [process.execPath, [process.env.npm_execpath]];
  return ['npm', []];
}

/** Makes sure that the peer is installed. */
export function ensurePeer() {
  if (isInstalled()) return;
  const [program, first] = npmCommand();
  rmSync(receipt, { force: true });
  execFileSync(program, [...first, 'ci', '--prefix', folder, '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  writeFileSync(receipt, readFileSync(lockfile));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ensurePeer();
  console.log('The TypeScript peer is installed.');
}
