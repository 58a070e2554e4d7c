// The command line of the benchmark.
import { readCommandLine } from './command-line.mjs';

export const usage = `Usage: npm run bench -- [options]

Compares this addon with the TypeScript converter and with the older bson.deserialize path.
Build the addon first: npm run build.

  --filter REGEX   only scenarios whose id or title matches, ignoring case
  --rounds N       rounds of each scenario, 1 to 1000 (default 5; with --quick 2)
  --quick          short rounds: shows that all works, says little about speed
  --node VERSION   the Node.js to run on: 24 (default), another version, or "current";
                   where it is not the running one, it is installed from npm into scripts/.node
  --json FILE      write the figures to FILE as well
  --list           list the scenarios and stop
  --help           show this text

Exit status: 0, or 1 where the addon answers otherwise than the TypeScript converter, or 2 for wrong usage.`;

/** Reads the options. @throws {TypeError} where they are wrong */
export function readOptions() {
  const options = readCommandLine(
    { usual: 5, quick: 2, most: 1000 },
    { list: { type: 'boolean', default: false } },
  );
  return { ...options, roundMs: options.quick ? 10 : 200 };
}
