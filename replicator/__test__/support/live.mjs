// Runs the command on a server, with the driver that a test names.

import { Writable } from 'node:stream';
import * as driver6 from 'mongodb';
import * as driver7 from 'mongodb7';
import { afterEach } from 'vitest';
import { main } from '../../lib/cli.mjs';
import { ReplayServer } from './servers/replay-server.mjs';

/** For `describe.each`: the drivers that must do. */
export const DRIVERS = [
  ['mongodb 6', driver6],
  ['mongodb 7', driver7],
];

/** So that a run ends soon after the last event, and failures are tried again at once. */
const QUICK = ['--until-caught-up', '0.05', '--max-time-ms', '20', '--retry-delay', '1'];

/** @returns {Promise<{ code: number, stdout: string, stderr: string }>} */
export async function replicateLive(driver, ...args) {
  const output = { stdout: '', stderr: '' };
  const collect = (name) =>
    new Writable({
      write(chunk, _encoding, done) {
        output[name] += chunk;
        done();
      },
    });
  const environment = {
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    loadDriver: async () => driver,
  };
  const code = await main([...args.map(String), ...QUICK.filter(isFreeIn(args))], environment);
  return { code, ...output };
}

/** Leaves out the quick options that the test sets itself. */
function isFreeIn(args) {
  return (_word, index) => !args.includes(QUICK[index - (index % 2)]);
}

/** A replay server that is gone after the test. */
export async function startReplay(script) {
  const server = new ReplayServer(script);
  running.push(server);
  return { server, uri: await server.start() };
}

const running = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
