// From the nanoseconds of each round to the figures of the table.
import { median, medianRatio, rounded } from './statistics.mjs';

/** No scenario on any Node.js is to be slower than this, even where it has no target of its own. */
const least = 1.1;

/**
 * @param {import('./scenarios/index.mjs').Scenario} scenario
 * @param {object} result as scenario-process.mjs sends it
 */
export function figuresOf(scenario, { documents, bytes, differences, nanoseconds }) {
  const { id, title, group, kind, targets, mostNs } = scenario;
  const meanBytes = bytes / documents;
  const contenders = Object.fromEntries(
    Object.entries(nanoseconds).map(([name, values]) => {
      const nsPerDocument = median(values);
      return [
        name,
        {
          nsPerDocument: rounded(nsPerDocument, 1),
          documentsPerSecond: Math.round(1e9 / nsPerDocument),
          mibPerSecond: rounded((meanBytes * 1e9) / nsPerDocument / 2 ** 20, 1),
          roundsNsPerDocument: values.map((value) => rounded(value, 1)),
        },
      ];
    }),
  );
  const others =
    'bsonrow' in nanoseconds ? Object.keys(nanoseconds).filter((name) => name !== 'bsonrow') : [];
  const ratios = Object.fromEntries(
    others.map((name) => [name, rounded(medianRatio(nanoseconds[name], nanoseconds.bsonrow), 2)]),
  );
  return {
    id,
    title,
    group,
    kind,
    documents,
    meanBytes: Math.round(meanBytes),
    targets: { typescript: least, ...targets },
    mostNs,
    contenders,
    ratios,
    differences,
  };
}
