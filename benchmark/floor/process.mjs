// One scenario in a process of its own: the floor's answers compared with the converter's, then the times of both and
// of the TypeScript converter.
import { firstDifference } from '../compare.mjs';
import { contenders, eventsMissing, kindsOfEvents } from '../contenders.mjs';
import { measure } from '../measure.mjs';
import { scenarios } from '../scenarios/index.mjs';
import { ways } from './answer.mjs';
import { floorOf } from './floor.mjs';

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
