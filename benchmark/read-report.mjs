// Reads the file that `npm run bench -- --json FILE` wrote, named on the command line.
import { readFileSync } from 'node:fs';

/** @param {string} script what to call the script in its usage line */
export function readReport(script) {
  const [path] = process.argv.slice(2);
  if (path === undefined || path.startsWith('-')) {
    console.error(`Usage: node benchmark/${script} FILE\nFILE is what npm run bench -- --json FILE wrote.`);
    process.exit(2);
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    console.error(`${path} is not a report of the benchmark: ${error.message}`);
    process.exit(1);
  }
}
