// The benchmark of the replicator as a tailer: batched writes against a transaction for each event, into SQLite and
// PostgreSQL, at several numbers of inserts to an update.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  script: 'bench:tailer',
  about: `Replicates streams of change events of 1 KB documents, batched (1,000 events in a transaction) and unbatched (each event
and the progress in a transaction of its own). PostgreSQL is a server of its own with its default settings.`,
  filters: 'name (a sink and the inserts to an update, "SQLite 50")',
  rounds: { usual: 5, quick: 2, most: 100 },
  quick: 'short streams',
  failure: 'a table does not hold what it should or a target is missed',
};

const INSERTS_PER_UPDATE = [0, 10, 20, 50, 1000];
/** Batched writes are to be so many times as fast. Figures of --quick are held to none. */
const TARGETS = { 'PostgreSQL 1000': 20 };
/** A run of each kind takes about a second: enough for the code to be compiled, as it is in a tailer that runs on. */
const EVENTS = { batched: 60_000, unbatched: 2000 };
const QUICK_EVENTS = { batched: 2000, unbatched: 200 };

/** Where rows go: a new address for each run. */
async function openTargets(folder) {
  let files = 0;
  const sqlite = {
    name: 'SQLite',
    newAddress: () => {
      files += 1;
      return join(folder, `${files}.sqlite`);
    },
  };
  try {
    const { PostgresServer } = await import('../replicator/scripts/postgres.mjs');
    const server = await PostgresServer.create();
    const postgres = { name: 'PostgreSQL', newAddress: () => server.newDatabase() };
    return { targets: [sqlite, postgres], close: () => server.remove() };
  } catch (error) {
    console.log(`PostgreSQL: skipped, ${error.message}`);
    return { targets: [sqlite], close: () => {} };
  }
}

/** Streams by number of inserts to an update and by kind of run, each in a file. */
async function writeStreams(folder, counts) {
  const { makeStream } = await import('./tailer-stream.mjs');
  return INSERTS_PER_UPDATE.map((insertsPerUpdate) => {
    const streams = Object.entries(counts).map(([kind, count]) => {
      const { bytes, ...expected } = makeStream(insertsPerUpdate, count);
      const file = join(folder, `${insertsPerUpdate}-${kind}.bson`);
      writeFileSync(file, bytes);
      return [kind, { file, events: count, ...expected }];
    });
    return { insertsPerUpdate, streams: Object.fromEntries(streams) };
  });
}

/** One run in a process of its own. @returns {Promise<{ node: string, perSecond: number }>} */
async function runOnce({ file, events, rows, visits }, address, isBatched, program) {
  const result = await runChild('tailer-process.mjs', { file, address, isBatched }, program);
  if (result.events !== events || result.rows !== rows || BigInt(result.visits) !== visits) {
    throw new Error(`the table holds ${result.rows} rows, visits ${result.visits}; not ${rows}, ${visits}`);
  }
  return { node: result.node, perSecond: (events / result.milliseconds) * 1000 };
}

/** Batched and unbatched in turn; the ratio is the median of the rounds' ratios. */
async function measure({ insertsPerUpdate, streams }, target, { rounds, program }) {
  const perSecond = { batched: [], unbatched: [] };
  let node;
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['batched', 'unbatched']) {
      const address = await target.newAddress();
      const result = await runOnce(streams[kind], address, kind === 'batched', program);
      perSecond[kind].push(result.perSecond);
      node = result.node;
    }
  }
  return {
    node,
    figures: {
      sink: target.name,
      insertsPerUpdate,
      batchedPerSecond: Math.round(median(perSecond.batched)),
      unbatchedPerSecond: Math.round(median(perSecond.unbatched)),
      ratio: medianRatio(perSecond.batched, perSecond.unbatched),
      target: TARGETS[`${target.name} ${insertsPerUpdate}`],
    },
  };
}

const WIDTHS = [-12, 17, 17, 19, 7, 7];

const tableLine = (cells) => textLine(cells, WIDTHS);

const isMissed = ({ ratio: reached, target }) => target !== undefined && reached < target;

function figureLine(figures, quick) {
  const { sink, insertsPerUpdate, batchedPerSecond, unbatchedPerSecond, target } = figures;
  const mark = isMissed(figures) && !quick ? '!' : '';
  return tableLine([
    sink,
    number(insertsPerUpdate),
    number(batchedPerSecond),
    number(unbatchedPerSecond),
    ratio(figures.ratio),
    target === undefined ? '' : `${mark}${target}`,
  ]);
}

const headerLines = (report) => [
  describeRun(report),
  `Events a second: the median of ${report.rounds} rounds. Ratio: batched to unbatched; ! where the target is missed.`,
  '',
  tableLine(['sink', 'inserts/update', 'batched', 'unbatched', 'ratio', 'target']),
];

/** Each stream into each target. */
const scenariosOf = (targets, streams) =>
  targets.flatMap((target) =>
    streams.map((stream) => ({ title: `${target.name} ${stream.insertsPerUpdate}`, target, stream })),
  );

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  const folder = mkdtempSync(join(tmpdir(), 'bsonrow-tailer-'));
  const program = nodeProgram(node);
  const report = newReport({ benchmark: 'tailer', quick, rounds });
  const { targets, close } = await openTargets(folder);
  try {
    const streams = await writeStreams(folder, quick ? QUICK_EVENTS : EVENTS);
    await measureAll(report, chosenOf(scenariosOf(targets, streams), filter), {
      measure: ({ stream, target }) => measure(stream, target, { rounds, program }),
      headerLines,
      lines: (figures) => [figureLine(figures, quick)],
      json,
    });
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
  return !quick && report.scenarios.some(isMissed) ? 1 : 0;
}

await runBenchmark(benchmark, main);
