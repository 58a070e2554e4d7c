// The table of `npm run bench`.
import { byGroup, describeRun, number, ratio, timeCells } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = ['scenario', 'bytes', 'TypeScript', 'bson.deserialize', 'bsonrow', 'MiB/s', 'ratio'];

const rowOf = ({ title, meanBytes, contenders, ratios }) => [
  title,
  number(meanBytes),
  ...timeCells(contenders),
  number(contenders.bsonrow?.mibPerSecond),
  ratio(ratios.typescript),
];

/** A contender that only some scenarios have. */
function otherLine(scenarios, name, words) {
  const parts = scenarios
    .filter(({ ratios }) => ratios[name] !== undefined)
    .map(({ title, ratios }) => `${title} ${ratio(ratios[name])}`);
  if (parts.length === 0) return [];
  return ['', `Ratio to ${words}: ${parts.join(', ')}.`];
}

/** @returns {string[]} lines of Markdown */
export function benchLines(report) {
  const { rounds, roundMs, scenarios } = report;
  const rows = [...byGroup(scenarios)].flatMap(([group, members]) => [
    [`**${group}**`, ...HEAD.slice(1).map(() => '')],
    ...members.map(rowOf),
  ]);
  return [
    `${describeRun(report)}. Time of one document or event: the median of ${rounds} rounds of about ${roundMs} ms, contenders alternating. Ratio: how many times as fast as the TypeScript converter.`,
    '',
    ...markdownTable(HEAD, rows),
    ...otherLine(scenarios, 'js-bson', '`bson.deserialize` and `toHexString` of each'),
    ...otherLine(scenarios, 'eager', 'the same without `lazyJson`'),
  ];
}
