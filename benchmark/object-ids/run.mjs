// ObjectIds in the shapes that js-bson measures, against `bson.deserialize`: time, and memory of what is kept, with and
// without bson's `ObjectId.cacheHexString`.
import { nodeProgram } from '../../scripts/node-version.mjs';
import { runChild } from '../child.mjs';
import { chosenOf, readCommandLine, runCommand } from '../command-line.mjs';
import { describeRun, microseconds, ratio } from '../format.mjs';
import { ensurePeer } from '../peer/install.mjs';
import { newReport, writeReport } from '../report-file.mjs';
import { requireAddon } from '../require-addon.mjs';
import { median, medianRatio, rounded } from '../statistics.mjs';
import { textLine } from '../text-line.mjs';

const usage = `Usage: npm run bench:object-ids -- [options]

Rows of documents of ObjectIds against bson.deserialize of the same: the time of a document, and the bytes of heap
that an ObjectId takes in results that are kept.

  --filter REGEX   only scenarios whose id or title matches, ignoring case
  --rounds N       rounds of each scenario, 1 to 1000 (default 5; with --quick 2)
  --quick          short rounds: shows that all works, says little about speed
  --node VERSION   the Node.js to run on: 24 (default), another version, or "current"
  --json FILE      write the figures to FILE as well
  --help           show this text

Exit status: 0, or 1 where a scenario cannot be measured, or 2 for wrong usage.`;

const WIDTHS = [-30, 14, 9, 9, 6, 12, 12, 12];
const HEAD = ['scenario', 'cacheHexString', 'js-bson', 'bsonrow', 'ratio', 'result', 'identity', 'printed'];

const CONTENDERS = ['js-bson', 'bsonrow'];
/** What is kept of each result: see process.mjs. */
const KEPT = ['result', 'identity', 'printed'];

async function measureScenario({ id, title }, cacheHexString, { rounds, roundMs, program }) {
  const run = (task) =>
    runChild('object-ids/process.mjs', { id, cacheHexString, ...task }, program, ['--expose-gc']);
  const { node, result: nanoseconds } = await run({ rounds, roundMs });
  const contenders = {};
  for (const contender of CONTENDERS) {
    const { result: bytesPerId } = await run({ contender });
    contenders[contender] = { nsPerDocument: rounded(median(nanoseconds[contender]), 1), bytesPerId };
  }
  const faster = rounded(medianRatio(nanoseconds['js-bson'], nanoseconds.bsonrow), 2);
  return { node, id, title, cacheHexString, contenders, ratio: faster };
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
  const options = { rounds, roundMs: quick ? 10 : 200, program: nodeProgram(node) };
  const report = newReport({ benchmark: 'object-ids', quick, rounds, roundMs: options.roundMs });
  for (const scenario of chosenOf(objectIds, filter)) {
    for (const cacheHexString of [false, true]) {
      const { node: version, ...figures } = await measureScenario(scenario, cacheHexString, options);
      if (report.node === undefined) {
        report.node = version;
        console.log(headerLines(report).join('\n'));
      }
      report.scenarios.push(figures);
      console.log(figureLine(figures));
      writeReport(json, report);
    }
  }
  return 0;
}

await runCommand(usage, () => readCommandLine({ usual: 5, quick: 2, most: 1000 }), main);
