// The benchmark: each scenario in a process of its own, a table as they end, the figures in a file if asked for.
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nodeProgram } from '../scripts/node-version.mjs';
import { figuresOf } from './figures.mjs';
import { describeMachine } from './machine.mjs';
import { readOptions, usage } from './options.mjs';
import { ensurePeer } from './peer/install.mjs';
import { differenceLines, headerLines, scenarioLine, skippedLine } from './table.mjs';

const inThisFolder = (file) => fileURLToPath(new URL(file, import.meta.url));

/** What one scenario's process sends. */
function runScenario(id, program, { rounds, roundMs }) {
  return new Promise((resolve, reject) => {
    const child = fork(inThisFolder('scenario-process.mjs'), [JSON.stringify({ id, rounds, roundMs })], {
      execPath: program,
      execArgv: ['--expose-gc'],
    });
    let result;
    child.once('message', (message) => {
      result = message;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0 && result !== undefined) resolve(result);
      else reject(new Error(`scenario ${id} ended with ${signal ?? `exit status ${code}`}`));
    });
  });
}

async function requireAddon() {
  try {
    await import('../index.js');
  } catch (cause) {
    throw new Error(`the addon cannot be loaded, npm run build makes it: ${cause.message}`, { cause });
  }
}

/** Runs scenarios in turn; the report on disk is complete after each, should the next be interrupted. */
async function runAll(scenarios, program, { rounds, roundMs, quick, json }) {
  const report = {
    date: new Date().toISOString(),
    machine: describeMachine(),
    node: undefined,
    v8: undefined,
    quick,
    rounds,
    roundMs,
    scenarios: [],
  };
  for (const scenario of scenarios) {
    const { node, v8, ...result } = await runScenario(scenario.id, program, { rounds, roundMs });
    if (report.node === undefined) {
      Object.assign(report, { node, v8 });
      console.log(headerLines(report).join('\n'));
    }
    if (result.skipped !== undefined) {
      console.log(skippedLine({ ...scenario, ...result }));
      continue;
    }
    const figures = figuresOf(scenario, result);
    report.scenarios.push(figures);
    console.log([scenarioLine(figures), ...differenceLines(figures)].join('\n'));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  }
  return report;
}

/** @returns {Promise<number>} the exit status */
async function main({ filter, list, node, ...options }) {
  ensurePeer();
  const { scenarios } = await import('./scenarios/index.mjs');
  const chosen = scenarios.filter(({ id, title }) => filter.test(id) || filter.test(title));
  if (chosen.length === 0) throw new Error('--filter matches no scenario');
  if (list) {
    for (const { id, title } of chosen) console.log(`${id.padEnd(32)} ${title}`);
    return 0;
  }

  await requireAddon();
  const runnable = chosen.filter(({ skipped }) => skipped === undefined);
  const report = await runAll(runnable, nodeProgram(node), options);
  for (const scenario of chosen) {
    if (scenario.skipped !== undefined) console.log(skippedLine(scenario));
  }
  return report.scenarios.some(({ differences }) => 'bsonrow' in differences) ? 1 : 0;
}

/** The options, or the end of the process where they are wrong. */
function optionsOrExit() {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

const options = optionsOrExit();
if (options.help) {
  console.log(usage);
} else {
  try {
    process.exitCode = await main(options);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
