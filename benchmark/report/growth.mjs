// The table of `npm run bench:growth`.
import { describeRun, ratio } from '../format.mjs';
import { memorySentence, nanoseconds } from '../growth/figures.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = ['', 'ns', 'of the first', 'floor, ns', 'of the first'];

const rowOf =
  ({ part, digits }) =>
  ({ title, ns, relative, floorNs, floorRelative }) => [
    `${part}, ${title}`,
    nanoseconds(ns, digits),
    ratio(relative),
    nanoseconds(floorNs, digits),
    ratio(floorRelative),
  ];

/** @returns {string[]} lines of Markdown */
export function growthLines(report) {
  const { rounds, roundMs, scenarios } = report;
  const timed = scenarios.filter(({ sizes }) => sizes !== undefined);
  const watched = scenarios.filter(({ sizes }) => sizes === undefined);
  return [
    `${describeRun(report)}. Medians of ${rounds} rounds of about ${roundMs} ms, sizes in turn.`,
    '',
    ...markdownTable(
      HEAD,
      timed.flatMap((figures) => figures.sizes.map(rowOf(figures))),
    ),
    ...watched.flatMap((figures) => ['', memorySentence(figures)]),
  ];
}
