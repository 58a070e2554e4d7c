// The table of `npm run bench:object-ids`.
import { describeRun, microseconds, number, ratio } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = [
  'scenario',
  '`cacheHexString`',
  'js-bson',
  'bsonrow',
  'ratio',
  'heap, js-bson',
  'heap, bsonrow',
  'identity printed, js-bson',
  'identity printed, bsonrow',
];

function rowOf({ title, cacheHexString, contenders, ratio: value }) {
  const both = [contenders['js-bson'], contenders.bsonrow];
  const heapOf = (keeps) => both.map(({ bytesPerId }) => number(Math.round(bytesPerId[keeps].heap)));
  return [
    title,
    String(cacheHexString),
    ...both.map(({ nsPerDocument }) => microseconds(nsPerDocument)),
    ratio(value),
    ...heapOf('result'),
    ...heapOf('printed'),
  ];
}

/** @returns {string[]} lines of Markdown */
export const objectIdLines = (report) => [
  `${describeRun(report)}. Time of one document: the median of ${report.rounds} rounds of about ${report.roundMs} ms, contenders alternating. Heap: bytes for each ObjectId.`,
  '',
  ...markdownTable(HEAD, report.scenarios.map(rowOf)),
];
