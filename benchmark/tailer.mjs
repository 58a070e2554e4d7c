// The benchmark of the replicator as a tailer: batched writes against a transaction for each event, into SQLite and
// PostgreSQL, at several numbers of inserts to an update.
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodeProgram } from '../scripts/node-version.mjs';
import { describeRun, number, ratio } from './format.mjs';
import { describeMachine } from './machine.mjs';
import { ensurePeer } from './peer/install.mjs';
import { median } from './statistics.mjs';

const usage = `Usage: node benchmark/tailer.mjs [options]

Replicates streams of change events of 1 KB documents, batched (1,000 events in a transaction) and unbatched (each event
and the progress in a transaction of its own). PostgreSQL is a server of its own with its default settings.

  --rounds N       rounds of each scenario, 1 to 100 (default 5; with --quick 2)
  --quick          short streams: shows that all works, says little about speed
  --node VERSION   the Node.js to run on: 24 (default), another version, or "current"
  --json FILE      write the figures to FILE as well
  --help           show this text

Exit status: 0, or 1 where a table does not hold what it should or a target is missed, or 2 for wrong usage.`;

const INSERTS_PER_UPDATE = [0, 10, 20, 50, 1000];
/** Batched writes are to be so many times as fast. Figures of --quick are held to none. */
const TARGETS = { 'PostgreSQL 1000': 20 };
/** A run of each kind takes about a second. */
const EVENTS = { batched: 20_000, unbatched: 2000 };
const QUICK_EVENTS = { batched: 2000, unbatched: 200 };

const inThisFolder = (file) => fileURLToPath(new URL(file, import.meta.url));

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
function runOnce({ file, events, rows, visits }, address, isBatched, program) {
  return new Promise((resolve, reject) => {
    const child = fork(inThisFolder('tailer-process.mjs'), [JSON.stringify({ file, address, isBatched })], {
      execPath: program,
    });
    let result;
    child.once('message', (message) => {
      result = message;
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code !== 0 || result === undefined) {
        reject(new Error(`a run ended with ${signal ?? `exit status ${code}`}`));
      } else if (result.events !== events || result.rows !== rows || BigInt(result.visits) !== visits) {
        reject(
          new Error(`the table holds ${result.rows} rows, visits ${result.visits}; not ${rows}, ${visits}`),
        );
      } else {
        resolve({ node: result.node, perSecond: (events / result.milliseconds) * 1000 });
      }
    });
  });
}

/** Batched and unbatched in turn; the ratio is the median of the rounds' ratios. */
async function measure({ insertsPerUpdate, streams }, target, { rounds, program }) {
  const figures = { batched: [], unbatched: [] };
  let node;
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['batched', 'unbatched']) {
      const address = await target.newAddress();
      const result = await runOnce(streams[kind], address, kind === 'batched', program);
      figures[kind].push(result.perSecond);
      node = result.node;
    }
  }
  const ratios = figures.batched.map((perSecond, round) => perSecond / figures.unbatched[round]);
  return {
    node,
    sink: target.name,
    insertsPerUpdate,
    batchedPerSecond: Math.round(median(figures.batched)),
    unbatchedPerSecond: Math.round(median(figures.unbatched)),
    ratio: median(ratios),
    target: TARGETS[`${target.name} ${insertsPerUpdate}`],
  };
}

const WIDTHS = [-12, 18, 18, 20, 8, 8];

const tableLine = (cells) =>
  cells
    .map((cell, i) => (WIDTHS[i] < 0 ? cell.padEnd(-WIDTHS[i]) : cell.padStart(WIDTHS[i])))
    .join('')
    .trimEnd();

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

/** @returns {Promise<number>} the exit status */
async function main({ rounds, quick, node, json }) {
  ensurePeer();
  const folder = mkdtempSync(join(tmpdir(), 'bsonrow-tailer-'));
  const program = nodeProgram(node);
  const report = { date: new Date().toISOString(), machine: describeMachine(), quick, rounds, scenarios: [] };
  const { targets, close } = await openTargets(folder);
  try {
    const streams = await writeStreams(folder, quick ? QUICK_EVENTS : EVENTS);
    for (const target of targets) {
      for (const stream of streams) {
        const figures = await measure(stream, target, { rounds, program });
        if (report.node === undefined) {
          report.node = figures.node;
          console.log(
            [
              describeRun(report),
              `Events a second: the median of ${rounds} rounds. Ratio: batched to unbatched; ! where the target is missed.`,
              '',
              tableLine(['sink', 'inserts/update', 'batched', 'unbatched', 'ratio', 'target']),
            ].join('\n'),
          );
        }
        report.scenarios.push(figures);
        console.log(figureLine(figures, quick));
        if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
      }
    }
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
  return !quick && report.scenarios.some(isMissed) ? 1 : 0;
}

function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      node: { type: 'string', default: '24' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100)
    throw new TypeError(`--rounds must be an integer from 1 to 100, not ${values.rounds}`);
  if (!/^(current|\d+(\.\d+){0,2})$/.test(values.node))
    throw new TypeError(`--node must be a version such as 24, or "current", not ${values.node}`);
  return { ...values, rounds };
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
