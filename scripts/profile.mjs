// Takes the profile that scripts/build.mjs builds with: builds an addon that counts what runs how often, trains it, and
// builds the addon again. The profile takes the place of those for other compilers on such a machine.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildAddon, runRust, targetFolder } from './cargo.mjs';
import { folder, profileName } from './profile/file.mjs';

/** The tool of this compiler's LLVM, installed on first use. */
function findMerger() {
  const libraries = runRust('rustc', ['--print', 'target-libdir']).trim();
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const merger = join(libraries, '..', 'bin', `llvm-profdata${suffix}`);
  if (!existsSync(merger)) runRust('rustup', ['component', 'add', 'llvm-tools'], 'inherit');
  if (!existsSync(merger)) {
    console.error(`There is no ${merger}: a profile is taken with a compiler of rustup's.`);
    process.exit(1);
  }
  return merger;
}

const filesIn = (directory) => readdirSync(directory).map((file) => join(directory, file));

const merger = findMerger();
const { name, ending } = profileName();
const counts = join(targetFolder, 'profile');
rmSync(counts, { recursive: true, force: true });

// By default it has no room for the sizes that some copies come in.
const addon = buildAddon([`-Cprofile-generate=${counts}`, '-Cllvm-args=-vp-counters-per-site=8']);
console.log('Training.');
const { status } = spawnSync(process.execPath, [join(folder, 'train.mjs')], { stdio: 'inherit' });
// It would go on counting.
rmSync(addon);
if (status !== 0) {
  console.error('The training failed. npm run build builds an addon that does not count.');
  process.exit(1);
}

// Without what never ran: a kernel for another processor than this one must not be taken for a rare case.
const merged = join(targetFolder, name);
const merge = ['merge', '--sparse', '--function=bsonrow', `--output=${merged}`];
runRust(merger, [...merge, ...filesIn(counts)], 'inherit');
for (const file of filesIn(folder)) if (file.endsWith(ending)) rmSync(file);
const profile = join(folder, name);
copyFileSync(merged, profile);
buildAddon([`-Cprofile-use=${profile}`]);
