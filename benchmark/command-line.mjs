// What the command lines of all benchmarks have in common.
import { parseArgs } from 'node:util';

/** @typedef {import('node:util').ParseArgsConfig['options']} ParseArgsOptions */

const common = {
  filter: { type: 'string', default: '' },
  rounds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  node: { type: 'string', default: '24' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
};

/**
 * @param {{ usual: number, quick: number, most: number }} rounds how many by default, with --quick, and at the most
 * @param {ParseArgsOptions} [own] further options of the benchmark
 * @throws {TypeError} where they are wrong
 */
export function readCommandLine({ usual, quick, most }, own = {}) {
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
 * @template Options
 * @param {string} usage
 * @param {() => Options & { help: boolean }} readOptions
 * @param {(options: Options) => Promise<number>} main
 */
export async function runCommand(usage, readOptions, main) {
  let options;
  try {
    options = readOptions();
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
