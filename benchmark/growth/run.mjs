// Whether cost grows with the work alone, and memory with nothing: time an event in batches of 100 to 10,000, time a byte
// of documents of 1 KB to 16 MB beside that of the floor, and the process's memory over gigabytes of mixed documents.
import { nodeProgram } from '../../scripts/node-version.mjs';
import { runChild } from '../child.mjs';
import { chosenOf, runBenchmark } from '../command-line.mjs';
import { buildFloor } from '../floor/addon.mjs';
import { describeRun, ratio } from '../format.mjs';
import { durationOf } from '../measure.mjs';
import { measureAll } from '../measure-all.mjs';
import { ensurePeer } from '../peer/install.mjs';
import { newReport } from '../report-file.mjs';
import { requireAddon } from '../require-addon.mjs';
import { textLine } from '../text-line.mjs';
import { figuresOf, hasGrown, isMissed, memorySentence, nanoseconds } from './figures.mjs';
import { growthScenarios } from './scenarios.mjs';

/** Documents that memory is watched over. */
const GIGABYTES = { usual: 10, quick: 0.5 };

const benchmark = {
  script: 'bench:growth',
  about: `Measures the time an event by the size of the batch, the time a byte by the size of the document, beside an addon that
makes the same answers from constants, and the memory of the process over ${GIGABYTES.usual} GiB of these documents. The other addon is
built here, with cargo.`,
  rounds: { usual: 11, quick: 2, most: 1000 },
  quick: `short rounds, ${GIGABYTES.quick} GiB`,
  failure: 'memory grows by more than it may, or a scenario cannot be measured',
};

const WIDTHS = [-30, 12, 13, 12, 13];
const HEAD = ['size', 'ns', 'of the first', 'floor, ns', 'of the first'];

const headerLines = (report) => [
  describeRun(report),
  `Nanoseconds: the median of ${report.rounds} rounds of about ${report.roundMs} ms, sizes in turn; ! where a size takes too many times as long.`,
];

function sizeLine(size, { target, digits }, quick) {
  const { title, ns, relative, floorNs, floorRelative } = size;
  return textLine(
    [
      title,
      nanoseconds(ns, digits),
      `${isMissed(size, target) && !quick ? '!' : ''}${ratio(relative)}`,
      nanoseconds(floorNs, digits),
      ratio(floorRelative),
    ],
    WIDTHS,
  );
}

function lines(figures, quick) {
  const { title, sizes } = figures;
  const own =
    sizes === undefined
      ? [memorySentence(figures)]
      : [textLine(HEAD, WIDTHS), ...sizes.map((size) => sizeLine(size, figures, quick))];
  return ['', title, ...own];
}

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  await requireAddon();
  buildFloor();
  const program = nodeProgram(node);
  const roundMs = durationOf(quick);
  const gigabytes = quick ? GIGABYTES.quick : GIGABYTES.usual;
  const report = newReport({ benchmark: 'growth', quick, rounds, roundMs });
  await measureAll(report, chosenOf(growthScenarios, filter), {
    measure: ({ id }) =>
      runChild('growth/process.mjs', { id, rounds, roundMs, gigabytes }, program, ['--expose-gc']),
    figuresOf,
    headerLines,
    lines: (figures) => lines(figures, quick),
    json,
  });
  return report.scenarios.some(hasGrown) ? 1 : 0;
}

await runBenchmark(benchmark, main);
