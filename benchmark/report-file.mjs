// Reports: what a run measured, for machines, in the file that `--json` names.
import { readFileSync, writeFileSync } from 'node:fs';
import { describeMachine } from './machine.mjs';

/**
 * A report without figures yet. The version of Node.js that they are from comes with the first.
 * @typedef {'async' | 'bench' | 'floor' | 'growth' | 'object-ids' | 'snapshot' | 'tailer' | 'workers'} BenchmarkName
 * @param {{ benchmark: BenchmarkName, rounds: number, quick: boolean }} options and whatever else belongs to the run
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

/** Reads a report, or ends the process where the file is none. @param {string} file */
export function readReport(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    if (report.benchmark === undefined) throw new TypeError('it names no benchmark');
    return report;
  } catch (error) {
    console.error(`${file} is not a report of a benchmark: ${error.message}`);
    process.exit(1);
  }
}
