// Builds the addon of this folder, and loads it.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const libraries = {
  darwin: 'libbsonrow_floor.dylib',
  linux: 'libbsonrow_floor.so',
  win32: 'bsonrow_floor.dll',
};

/** Quick where nothing has changed. */
export function buildFloor() {
  const build = ['build', '--quiet', '--release', '--target-dir', 'target'];
  const { status, error } = spawnSync('cargo', build, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error !== undefined) throw new Error(`cargo could not be started: ${error.message}`, { cause: error });
  if (status !== 0) throw new Error(`cargo ended with exit status ${status}`);
}

/**
 * @returns {(memory: Uint8Array, answers: import('./answer.mjs').Answer[]) => (source: Uint8Array) => any} see src/lib.rs
 */
export function loadFloor() {
  const library = { exports: {} };
  process.dlopen(library, `${folder}target/release/${libraries[process.platform]}`);
  return library.exports.createFloor;
}
