// The table of `npm run bench:floor`: the scenarios whose target is missed.
import { isMissed } from '../floor/figures.mjs';
import { describeRun, microseconds, ratio } from '../format.mjs';
import { markdownTable } from './markdown.mjs';

const HEAD = ['scenario', 'target', 'TypeScript', 'bsonrow', 'floor', 'reached', 'reachable', 'distance'];

const rowOf = ({ title, target, times, reached, reachable, distance }) => [
  title,
  String(target),
  microseconds(times.typescript),
  microseconds(times.bsonrow),
  microseconds(times.floor),
  ratio(reached),
  ratio(reachable),
  ratio(distance),
];

/** @returns {string[]} lines of Markdown */
export function floorLines(report) {
  const { rounds, roundMs, scenarios } = report;
  const missed = scenarios.filter(isMissed);
  const count = scenarios.length - missed.length;
  return [
    `${describeRun(report)}. Time of one document or event: the median of ${rounds} rounds of about ${roundMs} ms, contenders alternating. Of ${scenarios.length} scenarios with a target ${count} reach it.${missed.length === 0 ? '' : ' The others:'}`,
    ...(missed.length === 0 ? [] : ['', ...markdownTable(HEAD, missed.map(rowOf))]),
  ];
}
