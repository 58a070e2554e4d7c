// One scenario in a process of its own: compare the answers, take the times, send them to the parent.
import { firstDifference } from './compare.mjs';
import { contenders, defaultContenders, eventsMissing, kindsOfEvents } from './contenders.mjs';
import { measure } from './measure.mjs';
import { scenarios } from './scenarios/index.mjs';

/** Figures, or why there are none. */
function run({ kind, contenders: names = defaultContenders, parts = 1, documents: make }, options) {
  if (kindsOfEvents.has(kind) && eventsMissing !== undefined) return { skipped: eventsMissing };
  const documents = make();
  const entries = names.map((id) => ({ id, convert: contenders[id][kind] }));
  const reference = contenders.typescript[kind];
  const differences = Object.fromEntries(
    entries
      .map(({ id, convert }) => [id, firstDifference(kind, reference, convert, documents)])
      .filter(([, difference]) => difference !== undefined),
  );
  // Whoever answers otherwise is not timed: the times of different answers do not compare.
  const timed = entries.filter(({ id }) => !(id in differences));
  return {
    documents: documents.length * parts,
    bytes: documents.reduce((sum, document) => sum + document.length, 0),
    differences,
    nanoseconds: measure(timed, documents, { ...options, parts }),
  };
}

const { id, ...options } = JSON.parse(process.argv[2]);
const scenario = scenarios.find((candidate) => candidate.id === id);
process.send({ node: process.version, ...run(scenario, options) });
