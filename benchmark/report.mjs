// The README's table, in Markdown, from a report of the benchmark.
import { byGroup, describeRun, number, ratio, timeCells } from './format.mjs';
import { readReport } from './report-file.mjs';

const header = [
  '| scenario | bytes | TypeScript | bson.deserialize | bsonrow | MiB/s | ratio |',
  '|---|--:|--:|--:|--:|--:|--:|',
];

const rowOf = ({ title, meanBytes, contenders, ratios }) => {
  const cells = [
    title,
    number(meanBytes),
    ...timeCells(contenders),
    number(contenders.bsonrow?.mibPerSecond),
    ratio(ratios.typescript),
  ];
  return `| ${cells.join(' | ')} |`;
};

/** The contender that only some scenarios have. */
function byHandLine(scenarios) {
  const parts = scenarios
    .filter(({ ratios }) => ratios['js-bson'] !== undefined)
    .map(({ title, ratios }) => `${title} ${ratio(ratios['js-bson'])}`);
  if (parts.length === 0) return [];
  return ['', `Ratio to \`bson.deserialize\` and \`toHexString\` of each: ${parts.join(', ')}.`];
}

const report = readReport('report.mjs');
const { rounds, roundMs, scenarios } = report;
const lines = [
  `${describeRun(report)}. Time of one document or event: the median of ${rounds} rounds of about ${roundMs} ms, contenders alternating. Ratio: how many times as fast as the TypeScript converter.`,
  '',
  ...header,
  ...[...byGroup(scenarios)].flatMap(([group, members]) => [
    `| **${group}** | | | | | | |`,
    ...members.map(rowOf),
  ]),
  ...byHandLine(scenarios),
];
console.log(lines.join('\n'));
