// Builds the addon for this machine into its platform package: npm/<platform>/bsonrow.node.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { platformName } = createRequire(import.meta.url)('../lib/platform.js');
const libraries = { darwin: 'libbsonrow.dylib', linux: 'libbsonrow.so', win32: 'bsonrow.dll' };
const library = libraries[process.platform];
const platform = platformName();
const folder = join(root, 'npm', platform);

if (library === undefined || !existsSync(folder)) {
  console.error(`bsonrow has no platform package for ${platform}: add npm/${platform}/package.json`);
  process.exit(1);
}
// Named, as CARGO_TARGET_DIR or a configuration of cargo's may say another, and a file of before would be copied.
const targetFolder = join(root, 'target');
const build = ['build', '--release', '--features', 'node', '--target-dir', targetFolder];
const cargo = spawnSync('cargo', build, { cwd: root, stdio: 'inherit' });
if (cargo.error) {
  console.error(
    `cargo could not be started (${cargo.error.message}): bsonrow is built with Rust, see rustup.rs`,
  );
  process.exit(1);
}
if (cargo.status !== 0) process.exit(cargo.status ?? 1);

// A new file, not new bytes in the old one, which a running process may have mapped.
const target = join(folder, 'bsonrow.node');
rmSync(target, { force: true });
copyFileSync(join(targetFolder, 'release', library), target);
