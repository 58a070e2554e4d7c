#!/usr/bin/env node
// The command: hands its arguments to lib/cli.mjs and exits with the code that comes back.
import { main } from '../lib/cli.mjs';
import { guardOutputs } from '../lib/outputs.mjs';

guardOutputs(process);
const code = await main(process.argv.slice(2));
if (code !== 0) process.exitCode = code;
