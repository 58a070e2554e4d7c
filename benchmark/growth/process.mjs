// One of the scenarios of growth, in a process of its own.
import { firstDifference } from '../compare.mjs';
import { contenders } from '../contenders.mjs';
import { ways } from '../floor/answer.mjs';
import { floorOf } from '../floor/floor.mjs';
import { number } from '../format.mjs';
import { serialize } from '../generate/bson.mjs';
import { insertEvent } from '../generate/event.mjs';
import { order } from '../generate/order.mjs';
import { Random } from '../generate/random.mjs';
import { reply } from '../generate/reply.mjs';
import { measure } from '../measure.mjs';
import { EVENTS, growthScenarios } from './scenarios.mjs';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const SEED = 16;
const DOCUMENT_BYTES = 963;
/** The first bytes, after which memory is taken to have found its level. */
const SETTLED = 100 * MIB;
/** Of one size, before it is the next one's turn. */
const TURN = 16 * MIB;

const { batch: convertBatch, row: convertRow } = contenders.bsonrow;

const ordersOf = (items) => {
  const random = new Random(SEED);
  return items.map((count) => serialize(order(random, count)));
};

/**
 * All sizes in turn: to the timing loop, each is a contender that brings its own documents.
 * @param {{ title: string, parts: number, converters: Record<string, () => any> }[]} sizes `parts`: events or bytes
 */
function measureSizes(sizes, options) {
  const runs = sizes.flatMap(({ title, converters }) =>
    Object.entries(converters).map(([way, convert]) => ({ id: `${title}/${way}`, convert })),
  );
  const nanoseconds = measure(runs, [undefined], { ...options, parts: 1 });
  return sizes.map(({ title, parts, converters }) => {
    const own = Object.keys(converters).map((way) => [way, nanoseconds[`${title}/${way}`]]);
    return { title, parts, nanoseconds: Object.fromEntries(own) };
  });
}

function batches({ sizes }, options) {
  const random = new Random(SEED);
  const measured = sizes.map((events) => {
    const replies = Array.from({ length: EVENTS / events }, () =>
      serialize(reply(events, () => insertEvent(random, DOCUMENT_BYTES))),
    );
    const bsonrow = () => {
      for (const bytes of replies) convertBatch(bytes);
    };
    return { title: `batch of ${number(events)} events`, parts: EVENTS, converters: { bsonrow } };
  });
  return measureSizes(measured, options);
}

/** @returns {(document: Buffer) => any} */
function comparedFloor(document, way) {
  const convert = floorOf('row', [document], way);
  const difference = firstDifference('row', convertRow, convert, [document]);
  if (difference !== undefined) throw new Error(`the floor "${way}" answers otherwise: ${difference}`);
  return convert;
}

function documents({ sizes }, options) {
  const measured = ordersOf(sizes).map((document) => {
    const floors = ways.map((way) => [way, comparedFloor(document, way)]);
    const converters = [['bsonrow', convertRow], ...floors].map(([way, convert]) => [
      way,
      () => convert(document),
    ]);
    return {
      title: `document of ${number(document.length)} bytes`,
      parts: document.length,
      converters: Object.fromEntries(converters),
    };
  });
  return measureSizes(measured, options);
}

/** MiB that the process takes, without what V8 gives back where memory is short: its own reserve would hide a leak. */
function residentMiB() {
  globalThis.gc({ type: 'major', flavor: 'last-resort' });
  return process.memoryUsage.rss() / MIB;
}

/** As many bytes of each size. @returns what the process took after the first bytes, and after all */
function memory({ sizes }, { gigabytes }) {
  const sources = ordersOf(sizes);
  let settledMiB;
  let read = 0;
  for (let turn = 0; read < gigabytes * GIB; turn += 1) {
    const source = sources[turn % sources.length];
    for (let bytes = 0; bytes < TURN; bytes += source.length) convertRow(source);
    read += TURN;
    if (settledMiB === undefined && read >= SETTLED) settledMiB = residentMiB();
  }
  return { gigabytes, settledMiB, endMiB: residentMiB() };
}

const measuring = { batches, documents, memory };

const { id, ...options } = JSON.parse(process.argv[2]);
const scenario = growthScenarios.find((candidate) => candidate.id === id);
process.send({ node: process.version, result: measuring[id](scenario, options) });
