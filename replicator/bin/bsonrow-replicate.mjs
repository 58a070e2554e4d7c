#!/usr/bin/env node
// The command: hands its arguments to lib/cli.mjs and exits with the code that comes back.
import { main } from '../lib/cli.mjs';

process.exitCode = await main(process.argv.slice(2));
