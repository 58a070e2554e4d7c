// The benchmark of a snapshot and a change stream through the driver: the replicator's reader of cursors with this
// addon, and with the TypeScript converter in its place, on the same replies of a replay server.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeProgram } from '../scripts/node-version.mjs';
import { runChild } from './child.mjs';
import { chosenOf, runBenchmark } from './command-line.mjs';
import { describeRun, number, ratio } from './format.mjs';
import { measureAll } from './measure-all.mjs';
import { ensurePeer } from './peer/install.mjs';
import { newReport } from './report-file.mjs';
import { median } from './statistics.mjs';
import { textLine } from './text-line.mjs';

const benchmark = {
  script: 'bench:snapshot',
  about: `Reads documents and change events through the official driver from a replay server, and makes rows of them. Each
measurement is taken in a process of its own; the server is another one.`,
  rounds: { usual: 3, quick: 1, most: 100 },
  quick: 'a twentieth of the data',
  failure: 'the rows are not the same',
};

const CONTENDERS = ['driver', 'typescript', 'bsonrow'];
const MIB = 1024 * 1024;
const serverFile = fileURLToPath(new URL('snapshot-server.mjs', import.meta.url));

/** @returns {Promise<{ uri: string, documents: number, bytes: number, stop: () => void }>} */
function startServer(id, share, program) {
  return new Promise((resolve, reject) => {
    const child = fork(serverFile, { execPath: program });
    child.once('message', (message) => resolve({ ...message, stop: () => child.disconnect() }));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with exit status ${code}`)));
    child.send({ id, share });
  });
}

/** Contenders in turn, round by round; medians. */
async function measure({ id, title, kind }, { rounds, quick, program }) {
  const server = await startServer(id, quick ? 0.05 : 1, program);
  try {
    const task = { uri: server.uri, documents: server.documents, kind };
    const { node, skipped, difference } = await runChild(
      'snapshot-process.mjs',
      { ...task, contender: 'check' },
      program,
    );
    if (skipped !== undefined) return { node, skipped };
    const mebibytes = server.bytes / MIB;
    const figures = { id, title, documents: server.documents, mebibytes, difference };
    if (difference !== undefined) return { node, figures };
    const results = CONTENDERS.map((contender) => [contender, []]);
    for (let round = 0; round < rounds; round += 1) {
      for (const [contender, taken] of results) {
        taken.push(await runChild('snapshot-process.mjs', { ...task, contender }, program));
      }
    }
    const summaries = results.map(([name, taken]) => [name, summaryOf(taken, mebibytes)]);
    return { node, figures: { ...figures, contenders: Object.fromEntries(summaries) } };
  } finally {
    server.stop();
  }
}

const summaryOf = (taken, mebibytes) => ({
  mebibytesPerSecond: median(taken.map(({ seconds }) => mebibytes / seconds)),
  cpuSeconds: median(taken.map(({ cpuSeconds }) => cpuSeconds)),
  peakMiB: Math.max(...taken.map(({ peakMiB }) => peakMiB)),
});

const WIDTHS = [-50, 13, 13, 13, 7, 29, 23];
const tableLine = (cells) => textLine(cells, WIDTHS);

const HEAD = [
  '',
  'driver MiB/s',
  'TypeScript',
  'bsonrow',
  'ratio',
  'CPU s driver / TS / bsonrow',
  'peak MiB TS / bsonrow',
];

function figureLine({ title, difference, contenders }) {
  if (difference !== undefined)
    return tableLine([title, `other rows than the TypeScript converter: ${difference}`]);
  const { driver, typescript, bsonrow } = contenders;
  const rate = ({ mebibytesPerSecond }) => number(Math.round(mebibytesPerSecond));
  return tableLine([
    title,
    rate(driver),
    rate(typescript),
    rate(bsonrow),
    ratio(bsonrow.mebibytesPerSecond / typescript.mebibytesPerSecond),
    [driver, typescript, bsonrow].map(({ cpuSeconds }) => cpuSeconds.toFixed(2)).join(' / '),
    `${Math.round(typescript.peakMiB)} / ${Math.round(bsonrow.peakMiB)}`,
  ]);
}

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  const { snapshotScenarios } = await import('./snapshot-scenarios.mjs');
  const program = nodeProgram(node);
  const report = newReport({ benchmark: 'snapshot', quick, rounds });
  await measureAll(report, chosenOf(snapshotScenarios, filter), {
    measure: (scenario) => measure(scenario, { rounds, quick, program }),
    headerLines: (report) => [describeRun(report), '', tableLine(HEAD)],
    lines: (figures) => [figureLine(figures)],
    json,
  });
  return report.scenarios.some(({ difference }) => difference !== undefined) ? 1 : 0;
}

await runBenchmark(benchmark, main);
