// From the nanoseconds of each round to the figures of the table.
import { ways } from '../floor/answer.mjs';
import { median, medianRatio, rounded } from '../statistics.mjs';

/**
 * Of one size of a batch or document.
 * @typedef {object} SizeFigures
 * @property {string} title
 * @property {number} ns nanoseconds an event or byte
 * @property {number} relative how many times as long that is as of the first size
 * @property {number} [floorNs] the same of the fastest floor, where there is one
 * @property {number} [floorRelative]
 */

/** Rounds of nanoseconds, each of one part. */
const perPart = (values, parts) => values.map((value) => value / parts);

/** The fastest floor. @returns {number[] | undefined} */
const floorOf = (nanoseconds) =>
  ways
    .map((way) => nanoseconds[way])
    .filter((values) => values !== undefined)
    .toSorted((a, b) => median(a) - median(b))[0];

/** @returns {SizeFigures[]} */
function sizeFigures(sizes) {
  const rounds = sizes.map(({ title, parts, nanoseconds }) => {
    const floor = floorOf(nanoseconds);
    return {
      title,
      own: perPart(nanoseconds.bsonrow, parts),
      floor: floor && perPart(floor, parts),
    };
  });
  const [first] = rounds;
  return rounds.map(({ title, own, floor }) => ({
    title,
    ns: rounded(median(own), 3),
    relative: rounded(medianRatio(own, first.own), 2),
    ...(floor && {
      floorNs: rounded(median(floor), 3),
      floorRelative: rounded(medianRatio(floor, first.floor), 2),
    }),
  }));
}

export function figuresOf({ id, title, target, part, digits }, { result }) {
  const common = { id, title, target };
  if (part !== undefined) return { ...common, part, digits, sizes: sizeFigures(result) };
  return { ...common, ...result, grownMiB: result.endMiB - result.settledMiB };
}

/** Whether a size takes too many times as long. */
export const isMissed = ({ relative }, target) => relative > target;

/** Whether memory has grown by too much. */
export const hasGrown = ({ grownMiB, target }) => grownMiB !== undefined && grownMiB > target;

/** Nanoseconds as the tables show them. */
export const nanoseconds = (value, digits) =>
  value?.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }) ?? '–';

/** What became of memory. */
export const memorySentence = ({ settledMiB, endMiB, gigabytes, target }) =>
  `With documents of all these sizes, the process takes ${settledMiB.toFixed(0)} MiB after the first 100 MiB, and ${endMiB.toFixed(0)} MiB after ${gigabytes} GiB; ${target} MiB more are allowed.`;
