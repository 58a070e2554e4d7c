// What the command lines of all benchmarks have in common.
import { parseArgs } from 'node:util';

/**
 * A benchmark as its command line presents it.
 * @typedef {object} Benchmark
 * @property {string} script its name among the scripts of package.json
 * @property {string} about what it does
 * @property {string} [filters] what `--filter` looks at
 * @property {{ usual: number, quick: number, most: number }} rounds how many by default, with --quick, and at the most
 * @property {string} quick what `--quick` shortens
 * @property {Record<string, { type: 'boolean' | 'string', default?: any, usage: string }>} [own] further options
 * @property {string} failure when the exit status is 1
 */

const common = {
  filter: { type: 'string', default: '' },
  rounds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  node: { type: 'string', default: '24' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
};

const optionLine = (option, meaning) => `  ${option.padEnd(16)} ${meaning}`;

/** @param {Benchmark} benchmark */
function usageOf({ script, about, filters = 'id or title', rounds, quick, own = {}, failure }) {
  return [
    `Usage: npm run ${script} -- [options]`,
    '',
    about,
    '',
    optionLine('--filter REGEX', `only scenarios whose ${filters} matches, ignoring case`),
    optionLine(
      '--rounds N',
      `rounds of each scenario, 1 to ${rounds.most} (default ${rounds.usual}; with --quick ${rounds.quick})`,
    ),
    optionLine('--quick', `${quick}: shows that all works, says little about speed`),
    optionLine('--node VERSION', 'the Node.js to run on: 24 (default), another version, or "current";'),
    optionLine('', 'where it is not the running one, it is installed from npm into scripts/.node'),
    optionLine('--json FILE', 'write the figures to FILE as well'),
    ...Object.entries(own).map(([name, { usage }]) => optionLine(`--${name}`, usage)),
    optionLine('--help', 'show this text'),
    '',
    `Exit status: 0, or 1 where ${failure}, or 2 for wrong usage.`,
  ].join('\n');
}

/** @param {Benchmark} benchmark @throws {TypeError} where the options are wrong */
function readOptions({ rounds: { usual, quick, most }, own = {} }) {
  const { values } = parseArgs({ args: process.argv.slice(2), options: { ...common, ...own } });
  const rounds = Number(values.rounds ?? (values.quick ? quick : usual));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > most) {
    throw new TypeError(`--rounds must be an integer from 1 to ${most}, not ${values.rounds}`);
  }
  if (!/^(current|\d+(\.\d+){0,2})$/.test(values.node)) {
    throw new TypeError(`--node must be a version such as 24, or "current", not ${values.node}`);
  }
  return { ...values, rounds, filter: readFilter(values.filter) };
}

function readFilter(source) {
  try {
    return new RegExp(source, 'i');
  } catch (error) {
    throw new TypeError(`--filter must be a regular expression: ${error.message}`);
  }
}

/** Those that the option `--filter` asks for. @throws {Error} where it matches none */
export function chosenOf(scenarios, filter) {
  const chosen = scenarios.filter(({ id = '', title }) => filter.test(id) || filter.test(title));
  if (chosen.length === 0) throw new Error('--filter matches no scenario');
  return chosen;
}

/**
 * Runs a benchmark and sets the exit status: 2 where the command line is wrong, 1 where the benchmark cannot run, else
 * what `main` returns.
 * @param {Benchmark} benchmark
 * @param {(options: any) => Promise<number>} main
 */
export async function runBenchmark(benchmark, main) {
  const usage = usageOf(benchmark);
  let options;
  try {
    options = readOptions(benchmark);
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  if (options.help) {
    console.log(usage);
    return;
  }
  try {
    process.exitCode = await main(options);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
