// The profile that the addon is built with: what ran how often. It names functions as one compiler does, and is read by
// that compiler's LLVM.
import { fileURLToPath } from 'node:url';
import { runRust } from '../cargo.mjs';

const ENDING = '.profdata';

/** The folder of profiles, one for each machine that one was taken for. */
export const folder = fileURLToPath(new URL('.', import.meta.url));

/** The file's name for the compiler there is, and its ending, which is that of all for this machine. */
export function profileName() {
  const facts = new Map(
    runRust(process.env.RUSTC ?? 'rustc', ['-vV'])
      .split('\n')
      .map((line) => /** @type {[string, string]} */ (line.split(': '))),
  );
  const ending = `-${facts.get('host')}${ENDING}`;
  return { name: `rustc-${facts.get('release')}-llvm-${facts.get('LLVM version')}${ending}`, ending };
}
