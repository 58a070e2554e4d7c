// The benchmark: each scenario in a process of its own, a table as they end, the figures in a file if asked for.
import { nodeProgram } from '../scripts/node-version.mjs';
import { runChild } from './child.mjs';
import { chosenOf, runCommand } from './command-line.mjs';
import { figuresOf } from './figures.mjs';
import { readOptions, usage } from './options.mjs';
import { ensurePeer } from './peer/install.mjs';
import { newReport, writeReport } from './report-file.mjs';
import { requireAddon } from './require-addon.mjs';
import { differenceLines, headerLines, scenarioLine, skippedLine } from './table.mjs';

/** Runs scenarios in turn. */
async function runAll(scenarios, program, { rounds, roundMs, quick, json }) {
  const report = newReport({ benchmark: 'bench', quick, rounds, roundMs });
  for (const scenario of scenarios) {
    const task = { id: scenario.id, rounds, roundMs };
    const { node, v8, ...result } = await runChild('scenario-process.mjs', task, program, ['--expose-gc']);
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
    writeReport(json, report);
  }
  return report;
}

/** @returns {Promise<number>} the exit status */
async function main({ filter, list, node, ...options }) {
  ensurePeer();
  const { scenarios } = await import('./scenarios/index.mjs');
  const chosen = chosenOf(scenarios, filter);
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

await runCommand(usage, readOptions, main);
