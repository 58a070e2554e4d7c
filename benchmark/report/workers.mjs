// The table of `npm run bench:workers`.
import { describeRun, number, ratio } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = ['sink', 'one process', 'two, MessagePack', 'ratio', 'two, JSON', 'ratio'];

const rateOf = ({ perSecond, megabytesPerSecond }) =>
  `${number(perSecond)} documents/s, ${number(megabytesPerSecond)} MB/s`;

const rowOf = ({ sink, one, messagepack, json, ratio: value, jsonRatio }) => [
  sink,
  rateOf(one),
  rateOf(messagepack),
  ratio(value),
  rateOf(json),
  ratio(jsonRatio),
];

/** @returns {string[]} lines of Markdown */
export const workersLines = (report) => [
  `${describeRun(report)}. Medians of ${report.rounds} rounds.`,
  '',
  ...markdownTable(HEAD, report.scenarios.map(rowOf)),
];
