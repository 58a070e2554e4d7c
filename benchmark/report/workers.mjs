// The table of `npm run bench:workers`.
import { describeRun, number, ratio } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = [
  'sink',
  'one process',
  'two, MessagePack',
  'ratio',
  'two, JSON',
  'ratio',
  'two, half each, nothing handed over',
  'ratio',
];

const rateOf = ({ perSecond, megabytesPerSecond }) =>
  `${number(perSecond)} documents/s, ${number(megabytesPerSecond)} MB/s`;

const rowOf = ({ sink, one, messagepack, json, apart, ...ratios }) => [
  sink,
  rateOf(one),
  rateOf(messagepack),
  ratio(ratios.ratio),
  rateOf(json),
  ratio(ratios.jsonRatio),
  rateOf(apart),
  ratio(ratios.apartRatio),
];

/** @returns {string[]} lines of Markdown */
export const workersLines = (report) => [
  `${describeRun(report)}. Medians of ${report.rounds} rounds.`,
  '',
  ...markdownTable(HEAD, report.scenarios.map(rowOf)),
];
