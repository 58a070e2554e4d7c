// The table of `npm run bench:tailer`.
import { describeRun, number, ratio } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = ['sink', 'inserts to an update', 'batched, events/s', 'unbatched, events/s', 'ratio'];

const rowOf = ({ sink, insertsPerUpdate, batchedPerSecond, unbatchedPerSecond, ratio: value }) => [
  sink,
  number(insertsPerUpdate),
  number(batchedPerSecond),
  number(unbatchedPerSecond),
  ratio(value),
];

/** @returns {string[]} lines of Markdown */
export const tailerLines = (report) => [
  `${describeRun(report)}. Medians of ${report.rounds} rounds. PostgreSQL with its default settings, on the same machine.`,
  '',
  ...markdownTable(HEAD, report.scenarios.map(rowOf)),
];
