// Other versions of Node.js, to test and measure on: npm's packages `node-<platform>-<arch>` carry the binary.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.node', import.meta.url));

/** As npm names platforms. */
const platform = process.platform === 'win32' ? 'win' : process.platform;

/**
 * The program of a version, installed into scripts/.node on first use.
 * @param {string} version a major version such as `24`, a full one, or `current` for the Node.js that runs
 */
export function nodeProgram(version) {
  const running = process.versions.node;
  if (version === 'current' || running === version || running.split('.')[0] === version) {
    return process.execPath;
  }
  const name = `node-${platform}-${process.arch}`;
  const prefix = join(folder, version);
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const program = join(prefix, 'node_modules', name, 'bin', file);
  if (!existsSync(program)) install(`${name}@${version}`, prefix);
  return program;
}

function install(specifier, prefix) {
  console.error(`Installing ${specifier} from npm, once.`);
  mkdirSync(prefix, { recursive: true });
  // A package of its own: npm would add to the nearest package above otherwise.
  writeFileSync(join(prefix, 'package.json'), '{ "private": true }\n');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', specifier], {
    cwd: prefix,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
}
