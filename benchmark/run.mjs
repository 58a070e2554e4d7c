// The benchmark: each scenario in a process of its own, a table as they end, the figures in a file if asked for.
import { nodeProgram } from '../scripts/node-version.mjs';
import { runChild } from './child.mjs';
import { chosenOf, runBenchmark } from './command-line.mjs';
import { figuresOf } from './figures.mjs';
import { durationOf } from './measure.mjs';
import { measureAll } from './measure-all.mjs';
import { ensurePeer } from './peer/install.mjs';
import { newReport } from './report-file.mjs';
import { requireAddon } from './require-addon.mjs';
import { differenceLines, headerLines, scenarioLine, skippedLine } from './table.mjs';

const benchmark = {
  script: 'bench',
  about: `Compares this addon with the TypeScript converter and with the older bson.deserialize path.
Build the addon first: npm run build.`,
  rounds: { usual: 5, quick: 2, most: 1000 },
  quick: 'short rounds',
  own: { list: { type: 'boolean', default: false, usage: 'list the scenarios and stop' } },
  failure: 'the addon answers otherwise than the TypeScript converter',
};

/** @returns {Promise<number>} the exit status */
async function main({ filter, list, node, rounds, quick, json }) {
  ensurePeer();
  const { scenarios } = await import('./scenarios/index.mjs');
  const chosen = chosenOf(scenarios, filter);
  if (list) {
    for (const { id, title } of chosen) console.log(`${id.padEnd(32)} ${title}`);
    return 0;
  }

  await requireAddon();
  const program = nodeProgram(node);
  const roundMs = durationOf(quick);
  const report = newReport({ benchmark: 'bench', quick, rounds, roundMs });
  await measureAll(
    report,
    chosen.filter(({ skipped }) => skipped === undefined),
    {
      measure: ({ id }) =>
        runChild('scenario-process.mjs', { id, rounds, roundMs }, program, ['--expose-gc']),
      figuresOf,
      headerLines,
      lines: (figures) => [scenarioLine(figures), ...differenceLines(figures)],
      json,
    },
  );
  for (const scenario of chosen) {
    if (scenario.skipped !== undefined) console.log(skippedLine(scenario));
  }
  return report.scenarios.some(({ differences }) => 'bsonrow' in differences) ? 1 : 0;
}

await runBenchmark(benchmark, main);
