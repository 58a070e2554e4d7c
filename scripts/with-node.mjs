// Runs a command with another version of Node.js first on the PATH:
//
//   node scripts/with-node.mjs 24 npx vitest run
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { nodeProgram } from './node-version.mjs';

const [version, command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('Usage: node scripts/with-node.mjs VERSION COMMAND [ARGUMENTS]');
  process.exit(2);
}
const program = nodeProgram(version);
const { status, signal, error } = spawnSync(command, args, {
  stdio: 'inherit',
  env: { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH}` },
});
if (error !== undefined) throw error;
if (signal !== null) console.error(`${command} was ended by ${signal}`);
process.exitCode = status ?? 1;
