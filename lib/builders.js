const { Buffer } = require('node:buffer');
const native = require('./native.js');
const { assemble, compile } = require('./row-functions.js');

/** @typedef {import('../index.js').BsonImplementation} BsonImplementation */
/** @typedef {import('./row-functions.js').Tokens} Tokens */

/** As the replicator reads identities and events: an int64 is a `bigint`. */
const OPTIONS = { useBigInt64: true };
/** The same with nested documents left as Buffers. */
const RAW_OPTIONS = { useBigInt64: true, raw: true };

const OBJECT_ID_BYTES = 12;
const UUID_BYTES = 16;
const UUID_SUBTYPE = 4;

/**
 * Makers of rows and identities, by the implementation of BSON whose classes they use. Keyed by what is used of
 * it, so that a spread copy of a module makes no new ones.
 * @type {WeakMap<Function, WeakMap<Function, number>>}
 */
const known = new WeakMap();

/**
 * The number by which the addon knows the builders of an implementation of BSON.
 * @param {BsonImplementation} bson
 * @returns {number}
 */
function buildersOf(bson) {
  let byDeserialize = known.get(bson.ObjectId);
  if (byDeserialize === undefined) {
    byDeserialize = new WeakMap();
    known.set(bson.ObjectId, byDeserialize);
  }
  let builders = byDeserialize.get(bson.deserialize);
  if (builders === undefined) {
    builders = native.createBuilders(createBuilders(bson));
    byDeserialize.set(bson.deserialize, builders);
  }
  return builders;
}

/**
 * The functions that src/js_row.rs calls.
 * @param {BsonImplementation} bson
 */
function createBuilders({ Binary, ObjectId, Timestamp, UUID, deserialize }) {
  /** Where the addon puts values. @type {import('./row-functions.js').Slots} */
  let slots;
  /** @param {number} index @param {Uint8Array} bytes */
  const objectIdOf = (index, bytes) => {
    // From Buffer's pool, as js-bson's own deserialiser takes it: an ObjectId keeps its bytes.
    const id = Buffer.allocUnsafe(OBJECT_ID_BYTES);
    const start = index * OBJECT_ID_BYTES;
    for (let byte = 0; byte < OBJECT_ID_BYTES; byte++) id[byte] = bytes[start + byte];
    return new ObjectId(id);
  };
  const makers = {
    objectIdOf,
    objectId: (/** @type {number} */ index) => objectIdOf(index, slots.objectIds),
    timestamp: (/** @type {number} */ seconds, /** @type {number} */ increment) =>
      new Timestamp({ t: seconds, i: increment }),
    binary: (/** @type {string} */ text, /** @type {number} */ subtype) => {
      const bytes = Buffer.from(text, 'latin1');
      return subtype === UUID_SUBTYPE && bytes.length === UUID_BYTES
        ? new UUID(bytes)
        : new Binary(bytes, subtype);
    },
    view: (/** @type {Uint8Array} */ array, /** @type {number} */ start, /** @type {number} */ end) =>
      Buffer.from(array.buffer, array.byteOffset + start, end - start),
    buffer: (/** @type {Uint8Array} */ array) => Buffer.from(array.buffer),
  };
  return {
    /** The addon's memory: numbers, then places, then ObjectIds. */
    setShared: (
      /** @type {ArrayBuffer} */ memory,
      /** @type {number} */ placesAt,
      /** @type {number} */ objectIdsAt,
    ) => {
      slots = {
        bigints: new BigInt64Array(memory, 0, placesAt / BigInt64Array.BYTES_PER_ELEMENT),
        doubles: new Float64Array(memory, 0, placesAt / Float64Array.BYTES_PER_ELEMENT),
        places: new Int32Array(memory, placesAt, (objectIdsAt - placesAt) / Int32Array.BYTES_PER_ELEMENT),
        objectIds: new Uint8Array(memory, objectIdsAt),
      };
    },
    compile: (/** @type {Tokens} */ tokens) => compile(tokens, makers, slots),
    assemble: (
      /** @type {Tokens} */ tokens,
      /** @type {unknown} */ given,
      /** @type {unknown[]} */ values,
      /** @type {Uint8Array} */ objectIds,
    ) => assemble(tokens, given, values, objectIds, makers),
    deserializeElement: (/** @type {Uint8Array} */ document) => deserialize(document, OPTIONS)._id,
    deserializeRawElement: (/** @type {Uint8Array} */ document) => deserialize(document, RAW_OPTIONS)._id,
  };
}

module.exports = { buildersOf };
