// Builds the addon with cargo.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { platformName } = createRequire(import.meta.url)('../lib/platform.js');
const libraries = { darwin: 'libbsonrow.dylib', linux: 'libbsonrow.so', win32: 'bsonrow.dll' };

/** Where cargo puts what it builds: named, as CARGO_TARGET_DIR or a configuration of cargo's may say another. */
export const targetFolder = join(root, 'target');

/**
 * What a program of Rust's prints; ends this process where it is absent or fails.
 * @param {string} program
 * @param {string[]} args
 * @param {'pipe' | 'inherit'} output where it prints
 */
export function runRust(program, args, output = 'pipe') {
  const { error, status, stdout } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', output, 'inherit'],
    encoding: 'utf8',
  });
  if (error !== undefined) {
    console.error(
      `${program} could not be started (${error.message}): bsonrow is built with Rust, see rustup.rs`,
    );
    process.exit(1);
  }
  if (status !== 0) process.exit(status ?? 1);
  return stdout;
}

/**
 * Builds the addon for this machine into its platform package, npm/<platform>/bsonrow.node.
 * @param {string[]} flags of rustc's, for the addon itself
 * @returns {string} its path
 */
export function buildAddon(flags) {
  const library = libraries[process.platform];
  const platform = platformName();
  const folder = join(root, 'npm', platform);
  if (library === undefined || !existsSync(folder)) {
    console.error(`bsonrow has no platform package for ${platform}: add npm/${platform}/package.json`);
    process.exit(1);
  }
  const command = ['rustc', '--release', '--lib', '--features', 'node', '--target-dir', targetFolder];
  runRust('cargo', [...command, '--', ...flags], 'inherit');
  // A new file, not new bytes in the old one, which a running process may have mapped.
  const addon = join(folder, 'bsonrow.node');
  rmSync(addon, { force: true });
  copyFileSync(join(targetFolder, 'release', library), addon);
  return addon;
}
