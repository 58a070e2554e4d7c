// The command line of the benchmark.
import { parseArgs } from 'node:util';

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
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      filter: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      node: { type: 'string', default: '24' },
      json: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000) {
    throw new TypeError(`--rounds must be an integer from 1 to 1000, not ${values.rounds}`);
  }
  if (!/^(current|\d+(\.\d+){0,2})$/.test(values.node)) {
    throw new TypeError(`--node must be a version such as 24, or "current", not ${values.node}`);
  }
  return { ...values, rounds, roundMs: values.quick ? 10 : 200, filter: readFilter(values.filter) };
}

function readFilter(source) {
  try {
    return new RegExp(source ?? '', 'i');
  } catch (error) {
    throw new TypeError(`--filter must be a regular expression: ${error.message}`);
  }
}
