// Reports: what a run measured, for machines, in the file that `--json` names.
import { readFileSync, writeFileSync } from 'node:fs';
import { describeMachine } from './machine.mjs';

/**
 * A report without figures yet. The version of Node.js that they are from comes with the first.
 * @param {{ rounds: number, quick: boolean }} options and whatever else belongs to the run
 */
export const newReport = (options) => ({
  date: new Date().toISOString(),
  machine: describeMachine(),
  node: undefined,
  ...options,
  scenarios: [],
});

/** Writes a report where a file was asked for: after each scenario, so that it is complete should the next fail. */
export function writeReport(file, report) {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

/**
 * Reads the report that the command line names.
 * @param {string} script what to call the script in its usage line
 * @param {string} [benchmark] the script of package.json that writes such reports
 */
export function readReport(script, benchmark = 'bench') {
  const [path] = process.argv.slice(2);
  if (path === undefined || path.startsWith('-')) {
    console.error(
      `Usage: node benchmark/${script} FILE\nFILE is what npm run ${benchmark} -- --json FILE wrote.`,
    );
    process.exit(2);
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    console.error(`${path} is not a report of the benchmark: ${error.message}`);
    process.exit(1);
  }
}
