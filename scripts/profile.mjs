// Takes the profile that scripts/build.mjs builds with: builds an addon that counts what runs how often, trains it, and
// builds the addon again. The profile takes the place of one for another compiler on such a machine.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildAddon, runRust, targetFolder } from './cargo.mjs';
import { folder, profileName } from './profile/file.mjs';

/** The tool of this compiler's LLVM, installed on first use. */
function findMerger() {
  const libraries = runRust('rustc', ['--print', 'target-libdir']).trim();
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const merger = join(libraries, '..', 'bin', `llvm-profdata${suffix}`);
  if (!existsSync(merger)) runRust('rustup', ['component', 'add', 'llvm-tools'], 'inherit');
  return merger;
}

const filesIn = (directory) => readdirSync(directory).map((file) => join(directory, file));

const merger = findMerger();
const { name, ending } = profileName();
const profile = join(folder, name);
const counts = join(targetFolder, 'profile');
rmSync(counts, { recursive: true, force: true });

// By default it has no room for the sizes that some copies come in.
buildAddon([`-Cprofile-generate=${counts}`, '-Cllvm-args=-vp-counters-per-site=8']);
console.log('Training.');
execFileSync(process.execPath, [join(folder, 'train.mjs')], { stdio: 'inherit' });

for (const file of filesIn(folder)) if (file.endsWith(ending)) rmSync(file);
// Without what never ran: a kernel for another processor than this one must not be taken for a rare case.
const merge = ['merge', '--sparse', '--function=bsonrow', `--output=${profile}`];
runRust(merger, [...merge, ...filesIn(counts)], 'inherit');
buildAddon([`-Cprofile-use=${profile}`]);
