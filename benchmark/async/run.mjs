// How long the main thread is busy with a batch: convertBatch against convertBatchAsync of the same reply.
import { nodeProgram } from '../../scripts/node-version.mjs';
import { runChild } from '../child.mjs';
import { chosenOf, runBenchmark } from '../command-line.mjs';
import { describeRun, number } from '../format.mjs';
import { measureAll } from '../measure-all.mjs';
import { ensurePeer } from '../peer/install.mjs';
import { newReport } from '../report-file.mjs';
import { requireAddon } from '../require-addon.mjs';
import { median, medianRatio, rounded } from '../statistics.mjs';
import { textLine } from '../text-line.mjs';

const benchmark = {
  script: 'bench:async',
  about: `Batches by convertBatch and by convertBatchAsync: how long the main thread is busy, until when the result is there,
and how late the event loop comes meanwhile.`,
  rounds: { usual: 11, quick: 2, most: 1000 },
  quick: 'replies of 1 MiB',
  failure: 'the results are not the same',
};

const MIB = 2 ** 20;
/** No delay of the event loop is to be longer, in milliseconds. */
const LONGEST_DELAY_MS = 10;

function summaryOf(taken) {
  const medianOf = (name) => rounded(median(taken.map((round) => round[name])), 2);
  const delays = taken.map(({ delayMs }) => delayMs);
  return {
    cpuMs: medianOf('cpuMs'),
    elapsedMs: medianOf('elapsedMs'),
    delayMs: medianOf('delayMs'),
    worstDelayMs: rounded(Math.max(...delays), 2),
    rounds: taken,
  };
}

function figuresOf({ id, title, share }, { difference, count, bytes, taken }) {
  if (difference !== undefined) return { id, title, difference };
  const cpuOf = (name) => taken[name].map(({ cpuMs }) => cpuMs);
  return {
    id,
    title,
    count,
    bytes,
    targets: { share, worstDelayMs: LONGEST_DELAY_MS },
    contenders: Object.fromEntries(Object.entries(taken).map(([name, rounds]) => [name, summaryOf(rounds)])),
    share: rounded(medianRatio(cpuOf('convertBatchAsync'), cpuOf('convertBatch')), 3),
  };
}

const WIDTHS = [-30, 7, 7, 16, 7, 8, 20, 22, 7];
const HEAD = [
  'scenario',
  'count',
  'MiB',
  'busy, ms',
  'share',
  'target',
  'result after, ms',
  'longest delay, ms',
  'target',
];

function figureLine({ title, difference, count, bytes, targets, contenders, share }) {
  if (difference !== undefined) return `${title}: ${difference}`;
  const { convertBatch, convertBatchAsync } = contenders;
  const both = (name) =>
    [convertBatch, convertBatchAsync].map((figures) => figures[name].toFixed(1)).join(' / ');
  const missed = (isMissed, target) => `${isMissed ? '!' : ''}${target}`;
  return textLine(
    [
      title,
      number(count),
      (bytes / MIB).toFixed(1),
      both('cpuMs'),
      share.toFixed(3),
      missed(share >= targets.share, targets.share),
      both('elapsedMs'),
      both('worstDelayMs'),
      missed(convertBatchAsync.worstDelayMs > targets.worstDelayMs, targets.worstDelayMs),
    ],
    WIDTHS,
  );
}

const headerLines = (report) => [
  describeRun(report),
  `convertBatch / convertBatchAsync, medians of ${report.rounds} rounds in turn, but for the longest delay of all rounds.`,
  'Busy: time of the CPU on the main thread. Share: how much of it convertBatchAsync takes; ! where a target is missed.',
  '',
  textLine(HEAD, WIDTHS),
];

/** @returns {Promise<number>} the exit status */
async function main({ filter, rounds, quick, node, json }) {
  ensurePeer();
  await requireAddon();
  const { asyncScenarios } = await import('./scenarios.mjs');
  const program = nodeProgram(node);
  const bytes = (quick ? 1 : 16) * MIB;
  const report = newReport({ benchmark: 'async', quick, rounds });
  await measureAll(report, chosenOf(asyncScenarios, filter), {
    measure: ({ id }) => runChild('async/process.mjs', { id, rounds, bytes }, program, ['--expose-gc']),
    figuresOf,
    headerLines,
    lines: (figures) => [figureLine(figures)],
    json,
  });
  return report.scenarios.some(({ difference }) => difference !== undefined) ? 1 : 0;
}

await runBenchmark(benchmark, main);
