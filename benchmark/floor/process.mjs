// One scenario in a process of its own: the floor's answers compared with the converter's, then the times of both and
// of the TypeScript converter.
import { firstDifference } from '../compare.mjs';
import { contenders, eventsMissing, kindsOfEvents } from '../contenders.mjs';
import { measure } from '../measure.mjs';
import { scenarios } from '../scenarios/index.mjs';
import { loadFloor } from './addon.mjs';
import { answerOf, ways } from './answer.mjs';
import { memory } from './build.mjs';

const createFloor = loadFloor();

/** The function of a floor, and what makes the answers that it leaves to whoever calls. */
function withMakers(convert, answers) {
  if (answers.every(({ make }) => make === undefined)) return convert;
  const makers = answers.map(({ make }) => make);
  let next = 0;
  return (source) => {
    const value = convert(source);
    const make = makers[next];
    next = next + 1 === makers.length ? 0 : next + 1;
    return make === undefined ? value : make(value);
  };
}

/** @returns {(source: Buffer) => any} the floor's answers to documents in their order */
function floorOf(kind, documents, way) {
  const convert = contenders.bsonrow[kind];
  const answers = documents.map((document) =>
    answerOf(convert(document), way, {
      isReply: kind === 'batch',
      shared: kind === 'sharedRow' ? document : undefined,
    }),
  );
  return withMakers(createFloor(memory, answers), answers);
}

function run({ kind, parts = 1, documents: make }, options) {
  if (kindsOfEvents.has(kind) && eventsMissing !== undefined) return { skipped: eventsMissing };
  const documents = make();
  const floors = ways.map((way) => ({ id: way, convert: floorOf(kind, documents, way) }));
  for (const { id, convert } of floors) {
    const difference = firstDifference(kind, contenders.bsonrow[kind], convert, documents);
    if (difference !== undefined) throw new Error(`the floor "${id}" answers otherwise: ${difference}`);
  }
  const others = ['typescript', 'bsonrow'].map((id) => ({ id, convert: contenders[id][kind] }));
  return { nanoseconds: measure([...others, ...floors], documents, { ...options, parts }) };
}

const { id, ...options } = JSON.parse(process.argv[2]);
const scenario = scenarios.find((candidate) => candidate.id === id);
process.send({ node: process.version, ...run(scenario, options) });
