// The table of `npm run bench:async`.
import { describeRun, number } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = [
  'batch',
  'MiB',
  '`convertBatch`, busy',
  '`convertBatchAsync`, busy',
  'share',
  'result after',
  'result after, async',
  'longest delay',
  'longest delay, async',
];

const milliseconds = (value) => `${value.toFixed(1)} ms`;

function rowOf({ title, count, bytes, contenders: { convertBatch, convertBatchAsync }, share }) {
  return [
    `${number(count)} ${title}`,
    (bytes / 2 ** 20).toFixed(1),
    milliseconds(convertBatch.cpuMs),
    milliseconds(convertBatchAsync.cpuMs),
    share.toFixed(2),
    milliseconds(convertBatch.elapsedMs),
    milliseconds(convertBatchAsync.elapsedMs),
    milliseconds(convertBatch.worstDelayMs),
    milliseconds(convertBatchAsync.worstDelayMs),
  ];
}

/** @returns {string[]} lines of Markdown */
export const asyncLines = (report) => [
  `${describeRun(report)}. Medians of ${report.rounds} rounds in turn; the longest delay is that of all rounds.`,
  '',
  ...markdownTable(HEAD, report.scenarios.filter(({ contenders }) => contenders !== undefined).map(rowOf)),
];
