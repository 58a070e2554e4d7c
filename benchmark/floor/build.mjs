// The functions that make an answer's objects: literals, compiled once for the same names and kinds of values.
import { bson } from '../peer/index.mjs';

const { Binary, MaxKey, MinKey, ObjectId, Timestamp, UUID } = bson;

const OBJECT_ID_BYTES = 12;
const UUID_BYTES = 16;

/** Room for the numbers of any answer. */
export const memory = new Uint8Array(new ArrayBuffer(64 << 10));

/** From Buffer's pool, as js-bson's own deserialiser takes it. */
function copied(start, length) {
  const bytes = Buffer.allocUnsafe(length);
  for (let index = 0; index < length; index++) bytes[index] = memory[start + index];
  return bytes;
}

/** The parts of a reply that were made so far. */
const parts = { list: [] };

/** What the functions use beside their parameters. */
const scope = {
  bigints: new BigInt64Array(memory.buffer),
  unsigned: new BigUint64Array(memory.buffer),
  doubles: new Float64Array(memory.buffer),
  places: new Int32Array(memory.buffer),
  objectId: (start) => new ObjectId(copied(start, OBJECT_ID_BYTES)),
  timestamp: (seconds, increment) => new Timestamp({ t: seconds, i: increment }),
  binary: (start, length, subtype) =>
    subtype === Binary.SUBTYPE_UUID && length === UUID_BYTES
      ? new UUID(copied(start, length))
      : new Binary(copied(start, length), subtype),
  MaxKey,
  MinKey,
  parts,
  takeParts: () => {
    const { list } = parts;
    parts.list = [];
    return list;
  },
};

/** @type {Map<string, Function>} */
const compiled = new Map();

/**
 * @param {string[]} parameters
 * @param {string} expression
 */
export function objectBuilder(parameters, expression) {
  const text = `(${parameters.join(', ')}) => (${expression})`;
  let build = compiled.get(text);
  if (build === undefined) {
    build = new Function(...Object.keys(scope), `'use strict'; return ${text};`)(...Object.values(scope));
    compiled.set(text, build);
  }
  return build;
}

/**
 * A function that makes parts of their texts, each with a function of its own.
 * @param {Function[]} builders
 * @param {number[]} units of memory that each reads, one after another
 */
export function groupBuilder(builders, units) {
  let next = 0;
  const starts = units.map((count) => {
    const start = next;
    next += count;
    return start;
  });
  return (...texts) => {
    for (let index = 0; index < texts.length; index++) {
      parts.list.push(builders[index](texts[index], starts[index]));
    }
  };
}
