// The table on the terminal, a line as each scenario ends.
import { describeRun, microseconds, number, ratio, timeCells } from './format.mjs';
import { textLine } from './text-line.mjs';

const columns = [
  { title: 'scenario', width: -46 },
  { title: 'bytes', width: 8 },
  { title: 'TypeScript', width: 11 },
  { title: 'bson.deserialize', width: 17 },
  { title: 'bsonrow', width: 10 },
  { title: 'ratio', width: 7 },
  { title: 'target', width: 7 },
  { title: 'MiB/s', width: 8 },
  { title: 'docs/s', width: 10 },
];

const widths = columns.map(({ width }) => width);

export function headerLines(report) {
  return [
    describeRun(report),
    `Time of one document or event: the median of ${report.rounds} rounds of about ${report.roundMs} ms.`,
    'Ratio: how many times as fast as the TypeScript converter; ! where the target is missed.',
    '',
    textLine(
      columns.map(({ title }) => title),
      widths,
    ),
  ];
}

/** Contenders that only some scenarios have, in words. */
const otherContenders = { 'js-bson': 'by hand', msgpackr: 'msgpackr alone', eager: 'without lazyJson' };

/** Ratios to other contenders, and the most time that the addon is to take, follow in words. */
export function scenarioLine({ title, meanBytes, contenders, ratios, targets, mostNs }) {
  const { bsonrow } = contenders;
  const cells = [
    title,
    number(meanBytes),
    ...timeCells(contenders),
    ratio(ratios.typescript),
    targetCell('typescript', ratios, targets),
    number(bsonrow?.mibPerSecond),
    number(bsonrow?.documentsPerSecond),
  ];
  const others = Object.entries(otherContenders)
    .filter(([name]) => ratios[name] !== undefined)
    .map(([name, words]) => `  ${words}: ${ratio(ratios[name])} ${targetCell(name, ratios, targets)}`);
  const most =
    mostNs === undefined || bsonrow === undefined
      ? ''
      : `  at most: ${bsonrow.nsPerDocument > mostNs ? '!' : ''}${microseconds(mostNs)}`;
  return `${textLine(cells, widths)}${others.join('')}${most}`.trimEnd();
}

const targetCell = (name, ratios, targets) =>
  targets[name] === undefined ? '' : `${ratios[name] < targets[name] ? '!' : ''}${targets[name]}`;

export const differenceLines = ({ differences }) =>
  Object.entries(differences).map(
    ([name, difference]) => `  ${name} answers otherwise and is not timed: ${difference}`,
  );

export const skippedLine = ({ title, skipped }) => `${title}: skipped, ${skipped}`;
