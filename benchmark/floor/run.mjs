// The floors: for every scenario with a target, how fast the least would be that any addon must do for its answers.
import { nodeProgram } from '../../scripts/node-version.mjs';
import { runChild } from '../child.mjs';
import { chosenOf, runBenchmark } from '../command-line.mjs';
import { describeRun, microseconds, ratio } from '../format.mjs';
import { durationOf } from '../measure.mjs';
import { measureAll } from '../measure-all.mjs';
import { ensurePeer } from '../peer/install.mjs';
import { newReport } from '../report-file.mjs';
import { requireAddon } from '../require-addon.mjs';
import { textLine } from '../text-line.mjs';
import { buildFloor } from './addon.mjs';
import { figuresOf, isMissed } from './figures.mjs';

const benchmark = {
  script: 'bench:floor',
  about: `Measures, beside both converters, an addon that makes the same answers from constants, without looking at BSON.
Build the addon first: npm run build. The other one is built here, with cargo.`,
  rounds: { usual: 5, quick: 2, most: 1000 },
  quick: 'short rounds',
  failure: 'a scenario cannot be measured',
};

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

/**
 * Without a floor: an event by several calls, as the fewest calls are what its target is about; a message, for which it
 * would be another; and a reply, for which it would keep the constants of thousands of events, which the collector goes
 * through with every contender.
 */
const withoutFloor = new Set(['event', 'batch', 'message', 'table']);
const hasFloor = ({ kind, targets }) => !withoutFloor.has(kind) && targets?.typescript !== undefined;

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  await requireAddon();
  buildFloor();
  const { scenarios } = await import('../scenarios/index.mjs');
  const program = nodeProgram(node);
  const roundMs = durationOf(quick);
  const report = newReport({ benchmark: 'floor', quick, rounds, roundMs });
  await measureAll(report, chosenOf(scenarios.filter(hasFloor), filter), {
    measure: ({ id }) => runChild('floor/process.mjs', { id, rounds, roundMs }, program, ['--expose-gc']),
    figuresOf,
    headerLines,
    lines: (figures) => [figureLine(figures)],
    json,
  });
  return 0;
}

await runBenchmark(benchmark, main);
