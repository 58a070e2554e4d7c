// The table of `npm run bench:snapshot`.
import { describeRun, number, ratio } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = [
  'scenario',
  'driver alone, MiB/s',
  'TypeScript, MiB/s',
  'bsonrow, MiB/s',
  'ratio',
  'CPU of TypeScript, s',
  'of bsonrow, s',
  'peak memory of TypeScript, MiB',
  'of bsonrow, MiB',
];

function rowOf({ title, contenders: { driver, typescript, bsonrow } }) {
  const rate = ({ mebibytesPerSecond }) => number(Math.round(mebibytesPerSecond));
  return [
    title,
    rate(driver),
    rate(typescript),
    rate(bsonrow),
    ratio(bsonrow.mebibytesPerSecond / typescript.mebibytesPerSecond),
    typescript.cpuSeconds.toFixed(2),
    bsonrow.cpuSeconds.toFixed(2),
    number(Math.round(typescript.peakMiB)),
    number(Math.round(bsonrow.peakMiB)),
  ];
}

/** @returns {string[]} lines of Markdown */
export const snapshotLines = (report) => [
  `${describeRun(report)}. Medians of ${report.rounds} rounds, memory the highest of them.`,
  '',
  ...markdownTable(HEAD, report.scenarios.filter(({ contenders }) => contenders !== undefined).map(rowOf)),
];
