// The tarballs as npm would publish them, and the root's without its platform packages.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Packs the package in `folder` into `destination`.
 * @returns {{ file: string, contents: string[] }} the tarball, and the names of the files in it
 */
export function pack(folder, destination) {
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', destination], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [{ filename, files }] = Object.values(JSON.parse(output));
  return { file: join(destination, filename), contents: files.map(({ path }) => path).sort() };
}

/** The tarball of a root package whose platform packages are published on their own. */
export function packWithoutAddons({ file }, destination) {
  const folder = join(destination, 'without-addons');
  mkdirSync(folder);
  execFileSync('tar', ['--extract', '--file', file, '--directory', folder, '--strip-components', '1']);
  rmSync(join(folder, 'npm'), { recursive: true });
  return pack(folder, folder);
}
