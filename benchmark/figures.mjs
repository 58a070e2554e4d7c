// From the nanoseconds of each round to the figures of the table.
import { median } from './statistics.mjs';

/** No scenario on any Node.js is to be slower than this, even where it has no target of its own. */
export const floor = 1.1;

const round = (value, digits) => Number(value.toFixed(digits));

/**
 * How many times as fast the addon is: the median of the rounds' ratios, since the two figures of one round
 * were taken next to each other.
 */
function ratioTo(nanoseconds, other) {
  return round(median(nanoseconds[other].map((value, index) => value / nanoseconds.bsonrow[index])), 2);
}

/**
 * @param {import('./scenarios/index.mjs').Scenario} scenario
 * @param {object} result as scenario-process.mjs sends it
 */
export function figuresOf(scenario, { documents, bytes, differences, nanoseconds }) {
  const { id, title, group, kind, targets } = scenario;
  const meanBytes = bytes / documents;
  const contenders = Object.fromEntries(
    Object.entries(nanoseconds).map(([name, values]) => {
      const nsPerDocument = median(values);
      return [
        name,
        {
          nsPerDocument: round(nsPerDocument, 1),
          documentsPerSecond: Math.round(1e9 / nsPerDocument),
          mibPerSecond: round((meanBytes * 1e9) / nsPerDocument / 2 ** 20, 1),
          roundsNsPerDocument: values.map((value) => round(value, 1)),
        },
      ];
    }),
  );
  const others =
    'bsonrow' in nanoseconds ? Object.keys(nanoseconds).filter((name) => name !== 'bsonrow') : [];
  const ratios = Object.fromEntries(others.map((name) => [name, ratioTo(nanoseconds, name)]));
  return {
    id,
    title,
    group,
    kind,
    documents,
    meanBytes: Math.round(meanBytes),
    targets: { typescript: floor, ...targets },
    contenders,
    ratios,
    differences,
  };
}
