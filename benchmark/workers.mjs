// The benchmark of the replicator's processes: one that does all against one that reads and converts and one that applies,
// with rows that cross as MessagePack or as JSON.
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeProgram } from '../scripts/node-version.mjs';
import { runChild } from './child.mjs';
import { chosenOf, runBenchmark } from './command-line.mjs';
import { describeRun, number, ratio } from './format.mjs';
import { measureAll } from './measure-all.mjs';
import { ensurePeer } from './peer/install.mjs';
import { newReport } from './report-file.mjs';
import { median, medianRatio } from './statistics.mjs';
import { textLine } from './text-line.mjs';

const benchmark = {
  script: 'bench:workers',
  about: `Replicates a capture of inserts of orders with 500 nested items by one process, and by two: one reads and converts, the
other applies. Rows cross as MessagePack or as JSON. And by two that each do all of one half, into a sink of its own: what the
machine has to give.`,
  filters: 'name (a sink, "SQLite")',
  rounds: { usual: 5, quick: 2, most: 100 },
  quick: 'a short capture',
  failure: 'a table does not hold what it should or a target is missed',
};

const SEED = 20_240_601;
const ITEMS = 500;
const ORDERS = 3000;
const QUICK_ORDERS = 200;
/** So many different documents, each with many an `_id`. */
const DIFFERENT = 50;

/** Two processes, MessagePack, are to be so many times as fast as one. Figures of --quick are held to none. */
const TARGETS = { SQLite: 1.5 };

const WAYS = {
  one: { workers: 1 },
  messagepack: { workers: 2, format: 'messagepack' },
  json: { workers: 2, format: 'json' },
};

const SINKS = [
  { title: 'SQLite', newAddress: (folder, serial) => join(folder, `${serial}.sqlite`) },
  { title: 'none', newAddress: () => null },
];

/** A capture of inserts, each of another order. */
async function writeCapture(folder, count) {
  const { bson } = await import('./peer/index.mjs');
  const { insertOf } = await import('./generate/event.mjs');
  const { order } = await import('./generate/order.mjs');
  const { Random } = await import('./generate/random.mjs');
  const random = new Random(SEED);
  const orders = Array.from({ length: DIFFERENT }, () => order(random, ITEMS));
  const file = join(folder, 'orders.bson');
  const output = openSync(file, 'w');
  for (let i = 0; i < count; i += 1) {
    const document = orders[i % DIFFERENT];
    document._id = new bson.ObjectId(random.bytes(12));
    writeSync(output, bson.serialize(insertOf(random, document, 'orders')));
  }
  closeSync(output);
  return { file, orders: count };
}

async function runOnce({ file, orders }, address, way, program) {
  const result = await runChild('workers-process.mjs', { file, address, ...way }, program);
  if (result.documents !== orders || (address !== null && result.rows !== orders))
    throw new Error(`${result.documents} documents were read and ${result.rows} rows stored, not ${orders}`);
  if (address !== null) rmSync(address);
  return result;
}

/** Two processes side by side, each with half of the orders and a sink of its own. @returns {Promise<number>} milliseconds */
async function runApart({ file, orders }, newAddress, program) {
  const limit = orders / 2;
  const halves = ['first', 'second'].map(async (half) => {
    const way = { workers: 1, limit };
    const { milliseconds } = await runOnce({ file, orders: limit }, newAddress(half), way, program);
    return milliseconds;
  });
  return Math.max(...(await Promise.all(halves)));
}

/** All ways in turn; the ratios are the medians of the rounds' ratios. */
async function measure({ title, newAddress }, capture, { rounds, program, folder }) {
  const perSecond = { one: [], messagepack: [], json: [], apart: [] };
  let last;
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(WAYS)) {
      last = await runOnce(capture, newAddress(folder, 'target'), way, program);
      perSecond[name].push((capture.orders / last.milliseconds) * 1000);
    }
    const milliseconds = await runApart(capture, (half) => newAddress(folder, half), program);
    perSecond.apart.push((capture.orders / milliseconds) * 1000);
  }
  const megabytes = last.bytes / last.documents / 1e6;
  const figuresOf = (name) => ({
    perSecond: Math.round(median(perSecond[name])),
    megabytesPerSecond: Math.round(median(perSecond[name]) * megabytes),
  });
  return {
    node: last.node,
    figures: {
      sink: title,
      one: figuresOf('one'),
      messagepack: figuresOf('messagepack'),
      json: figuresOf('json'),
      apart: figuresOf('apart'),
      ratio: medianRatio(perSecond.messagepack, perSecond.one),
      jsonRatio: medianRatio(perSecond.json, perSecond.one),
      apartRatio: medianRatio(perSecond.apart, perSecond.one),
      target: TARGETS[title],
    },
  };
}

const WIDTHS = [-8, 8, 7, 13, 7, 7, 8, 7, 7, 8, 7, 7, 7];

const tableLine = (cells) => textLine(cells, WIDTHS);

const isMissed = ({ ratio: reached, target }) => target !== undefined && reached < target;

const both = ({ perSecond, megabytesPerSecond }) => [number(perSecond), number(megabytesPerSecond)];

const figureLine = (figures, quick) =>
  tableLine([
    figures.sink,
    ...both(figures.one),
    ...both(figures.messagepack),
    ratio(figures.ratio),
    ...both(figures.json),
    ratio(figures.jsonRatio),
    ...both(figures.apart),
    ratio(figures.apartRatio),
    figures.target === undefined ? '' : `${isMissed(figures) && !quick ? '!' : ''}${figures.target}`,
  ]);

const headerLines = (report) => [
  describeRun(report),
  `Documents and MB of BSON a second: the median of ${report.rounds} rounds. Ratio: to one process; ! where the target is missed.`,
  '',
  tableLine([
    'sink',
    'one',
    'MB',
    '2, MsgPack',
    'MB',
    'ratio',
    '2, JSON',
    'MB',
    'ratio',
    '2, apart',
    'MB',
    'ratio',
    'target',
  ]),
];

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  const folder = mkdtempSync(join(tmpdir(), 'bsonrow-workers-'));
  const program = nodeProgram(node);
  const report = newReport({ benchmark: 'workers', quick, rounds });
  try {
    const capture = await writeCapture(folder, quick ? QUICK_ORDERS : ORDERS);
    await measureAll(report, chosenOf(SINKS, filter), {
      measure: (sink) => measure(sink, capture, { rounds, program, folder }),
      headerLines,
      lines: (figures) => [figureLine(figures, quick)],
      json,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return !quick && report.scenarios.some(isMissed) ? 1 : 0;
}

await runBenchmark(benchmark, main);
