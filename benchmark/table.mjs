// The table on the terminal, a line as each scenario ends.
import { describeRun, microseconds, number, ratio, shortened } from './format.mjs';

/** A negative width aligns to the left. */
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

const fitted = (text, width) => shortened(text, width).padEnd(width);

const line = (cells) =>
  columns
    .map(({ width }, index) => (width < 0 ? fitted(cells[index], -width) : cells[index].padStart(width)))
    .join(' ');

export function headerLines(report) {
  return [
    describeRun(report),
    `Time of one document or event: the median of ${report.rounds} rounds of about ${report.roundMs} ms.`,
    'Ratio: how many times as fast as the TypeScript converter; ! where the target is missed.',
    '',
    line(columns.map(({ title }) => title)),
  ];
}

/** The ratio to any other contender follows in words. */
export function scenarioLine({ title, meanBytes, contenders, ratios, targets }) {
  const { typescript, older, bsonrow } = contenders;
  const cells = [
    title,
    number(meanBytes),
    microseconds(typescript?.nsPerDocument),
    microseconds(older?.nsPerDocument),
    microseconds(bsonrow?.nsPerDocument),
    ratio(ratios.typescript),
    targetCell('typescript', ratios, targets),
    number(bsonrow?.mibPerSecond),
    number(bsonrow?.documentsPerSecond),
  ];
  if (ratios['js-bson'] === undefined) return line(cells);
  const target = targetCell('js-bson', ratios, targets);
  return `${line(cells)}  by hand: ${ratio(ratios['js-bson'])} ${target}`.trimEnd();
}

const targetCell = (name, ratios, targets) =>
  targets[name] === undefined ? '' : `${ratios[name] < targets[name] ? '!' : ''}${targets[name]}`;

export const differenceLines = ({ differences }) =>
  Object.entries(differences).map(
    ([name, difference]) => `  ${name} answers otherwise and is not timed: ${difference}`,
  );

export const skippedLine = ({ title, skipped }) => `${title}: skipped, ${skipped}`;
