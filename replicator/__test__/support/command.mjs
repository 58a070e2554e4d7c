// The command as a process, which a test may kill.
import { spawn } from 'node:child_process';

const COMMAND = new URL('../../bin/bsonrow-replicate.mjs', import.meta.url).pathname;

/**
 * @param {string[]} args
 * @returns {{ child: import('node:child_process').ChildProcess, ended: Promise<{ code: number | null, stdout: string,
 *   stderr: string }> }} `code` is null where it was killed
 */
export function startCommand(args) {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].on('data', (text) => {
      output[name] += text;
    });
  }
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return { child, ended };
}
