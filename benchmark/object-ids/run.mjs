// ObjectIds in the shapes that js-bson measures, against `bson.deserialize`: time, and memory of what is kept, with and
// without bson's `ObjectId.cacheHexString`.
import { nodeProgram } from '../../scripts/node-version.mjs';
import { runChild } from '../child.mjs';
import { chosenOf, runBenchmark } from '../command-line.mjs';
import { describeRun, microseconds, ratio } from '../format.mjs';
import { durationOf } from '../measure.mjs';
import { measureAll } from '../measure-all.mjs';
import { ensurePeer } from '../peer/install.mjs';
import { newReport } from '../report-file.mjs';
import { requireAddon } from '../require-addon.mjs';
import { median, medianRatio, rounded } from '../statistics.mjs';
import { textLine } from '../text-line.mjs';

const benchmark = {
  script: 'bench:object-ids',
  about: `Rows of documents of ObjectIds against bson.deserialize of the same: the time of a document, and the bytes of heap
that an ObjectId takes in results that are kept.`,
  rounds: { usual: 5, quick: 2, most: 1000 },
  quick: 'short rounds',
  failure: 'a scenario cannot be measured',
};

const WIDTHS = [-30, 14, 9, 9, 6, 12, 12, 12];
const HEAD = ['scenario', 'cacheHexString', 'js-bson', 'bsonrow', 'ratio', 'result', 'identity', 'printed'];

const CONTENDERS = ['js-bson', 'bsonrow'];
/** What is kept of each result: see process.mjs. */
const KEPT = ['result', 'identity', 'printed'];

async function measureScenario({ id, title, cacheHexString }, { rounds, roundMs, program }) {
  const run = (task) =>
    runChild('object-ids/process.mjs', { id, cacheHexString, ...task }, program, ['--expose-gc']);
  const { node, result: nanoseconds } = await run({ rounds, roundMs });
  const contenders = {};
  for (const contender of CONTENDERS) {
    const { result: bytesPerId } = await run({ contender });
    contenders[contender] = { nsPerDocument: rounded(median(nanoseconds[contender]), 1), bytesPerId };
  }
  const faster = rounded(medianRatio(nanoseconds['js-bson'], nanoseconds.bsonrow), 2);
  return { node, figures: { id, title, cacheHexString, contenders, ratio: faster } };
}

function figureLine({ title, cacheHexString, contenders, ratio: value }) {
  const heapOf = (keeps) => CONTENDERS.map((name) => Math.round(contenders[name].bytesPerId[keeps].heap));
  return textLine(
    [
      title,
      String(cacheHexString),
      ...CONTENDERS.map((name) => microseconds(contenders[name].nsPerDocument)),
      ratio(value),
      ...KEPT.map((keeps) => heapOf(keeps).join(' / ')),
    ],
    WIDTHS,
  );
}

const headerLines = (report) => [
  describeRun(report),
  `Time of one document: the median of ${report.rounds} rounds. Bytes of heap an ObjectId, js-bson / bsonrow, where what is`,
  'kept is the whole result, its identity, or that after its hexadecimal text was asked for.',
  '',
  textLine(HEAD, WIDTHS),
];

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  await requireAddon();
  const { objectIds } = await import('../scenarios/object-ids.mjs');
  const options = { rounds, roundMs: durationOf(quick), program: nodeProgram(node) };
  const report = newReport({ benchmark: 'object-ids', quick, rounds, roundMs: options.roundMs });
  const scenarios = chosenOf(objectIds, filter).flatMap((scenario) =>
    [false, true].map((cacheHexString) => ({ ...scenario, cacheHexString })),
  );
  await measureAll(report, scenarios, {
    measure: (scenario) => measureScenario(scenario, options),
    headerLines,
    lines: (figures) => [figureLine(figures)],
    json,
  });
  return 0;
}

await runBenchmark(benchmark, main);
