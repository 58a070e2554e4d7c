// From the nanoseconds of each round to the figures of the table.
import { median, medianRatio, rounded } from '../statistics.mjs';
import { ways } from './answer.mjs';

/**
 * @typedef {object} FloorFigures
 * @property {string} id
 * @property {string} title
 * @property {number} target how many times as fast as the TypeScript converter the addon is to be
 * @property {{ typescript: number, bsonrow: number, floor: number }} times nanoseconds a document
 * @property {import('./answer.mjs').Way} way the fastest one
 * @property {number} reached how many times as fast the addon is
 * @property {number} reachable how many times as fast any addon can be
 * @property {number} distance how many times as long as the floor the addon takes
 */

/** @returns {FloorFigures} */
export function figuresOf({ id, title, targets }, { nanoseconds }) {
  const times = Object.fromEntries(
    Object.entries(nanoseconds).map(([name, values]) => [name, rounded(median(values), 1)]),
  );
  const way = ways.toSorted((a, b) => times[a] - times[b])[0];
  const { typescript, bsonrow, [way]: floor } = nanoseconds;
  return {
    id,
    title,
    target: targets.typescript,
    times: { typescript: times.typescript, bsonrow: times.bsonrow, floor: times[way] },
    way,
    reached: rounded(medianRatio(typescript, bsonrow), 2),
    reachable: rounded(medianRatio(typescript, floor), 2),
    distance: rounded(medianRatio(bsonrow, floor), 2),
  };
}

export const isMissed = ({ reached, target }) => reached < target;
