// A process of its own for each measurement.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Runs a file of this folder in a process of its own, with `argument` as JSON on its command line.
 * @param {string} file
 * @param {unknown} argument
 * @param {string} program the Node.js to run it
 * @param {string[]} [execArgv]
 * @returns {Promise<any>} the message that it sends
 */
export function runChild(file, argument, program, execArgv = []) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(argument)], {
      execPath: program,
      execArgv,
    });
    let result;
    child.once('message', (message) => {
      result = message;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0 && result !== undefined) resolve(result);
      else reject(new Error(`${file} ended with ${signal ?? `exit status ${code}`}`));
    });
  });
}
