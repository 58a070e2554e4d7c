// The floors: for every scenario with a target, how fast the least would be that any addon must do for its answers.
import { nodeProgram } from '../../scripts/node-version.mjs';
import { runChild } from '../child.mjs';
import { chosenOf, readCommandLine, runCommand } from '../command-line.mjs';
import { describeRun, microseconds, ratio } from '../format.mjs';
import { ensurePeer } from '../peer/install.mjs';
import { newReport, writeReport } from '../report-file.mjs';
import { requireAddon } from '../require-addon.mjs';
import { skippedLine } from '../table.mjs';
import { textLine } from '../text-line.mjs';
import { buildFloor } from './addon.mjs';
import { figuresOf, isMissed } from './figures.mjs';

const usage = `Usage: npm run bench:floor -- [options]

Measures, beside both converters, an addon that makes the same answers from constants, without looking at BSON.
Build the addon first: npm run build. The other one is built here, with cargo.

  --filter REGEX   only scenarios whose id or title matches, ignoring case
  --rounds N       rounds of each scenario, 1 to 1000 (default 5; with --quick 2)
  --quick          short rounds: shows that all works, says little about speed
  --node VERSION   the Node.js to run on: 24 (default), another version, or "current"
  --json FILE      write the figures to FILE as well
  --help           show this text

Exit status: 0, or 1 where a scenario cannot be measured, or 2 for wrong usage.`;

const WIDTHS = [-46, 7, 11, 10, 10, 8, 12, 9];
const HEAD = ['scenario', 'target', 'TypeScript', 'bsonrow', 'floor', 'reached', 'reachable', 'distance'];

const tableLine = (cells) => textLine(cells, WIDTHS);

const headerLines = (report) => [
  describeRun(report),
  `Time of one document or event: the median of ${report.rounds} rounds of about ${report.roundMs} ms.`,
  'Reached: TypeScript to bsonrow, ! below the target. Reachable: TypeScript to floor. Distance: bsonrow to floor.',
  '',
  tableLine(HEAD),
];

function figureLine(figures) {
  const { title, target, times, reached, reachable, distance } = figures;
  return tableLine([
    title,
    String(target),
    microseconds(times.typescript),
    microseconds(times.bsonrow),
    microseconds(times.floor),
    `${isMissed(figures) ? '!' : ''}${ratio(reached)}`,
    ratio(reachable),
    ratio(distance),
  ]);
}

/** An event has no floor by several calls: the fewest calls are what its target is about. */
const hasFloor = ({ kind, targets }) => kind !== 'event' && targets?.typescript !== undefined;

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  await requireAddon();
  buildFloor();
  const { scenarios } = await import('../scenarios/index.mjs');
  const program = nodeProgram(node);
  const roundMs = quick ? 10 : 200;
  const report = newReport({ benchmark: 'floor', quick, rounds, roundMs });
  for (const scenario of chosenOf(scenarios.filter(hasFloor), filter)) {
    const task = { id: scenario.id, rounds, roundMs };
    const { node: version, ...result } = await runChild('floor/process.mjs', task, program, ['--expose-gc']);
    if (report.node === undefined) {
      report.node = version;
      console.log(headerLines(report).join('\n'));
    }
    if (result.skipped !== undefined) {
      console.log(skippedLine({ ...scenario, ...result }));
      continue;
    }
    const figures = figuresOf(scenario, result);
    report.scenarios.push(figures);
    console.log(figureLine(figures));
    writeReport(json, report);
  }
  return 0;
}

await runCommand(usage, () => readCommandLine({ usual: 5, quick: 2, most: 1000 }), main);
