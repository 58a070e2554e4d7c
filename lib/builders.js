const { Buffer } = require('node:buffer');
const { setImmediate } = require('node:timers');
const { deserializeFieldOptions, deserializeOptions } = require('./deserialize-options.js');
const { made } = require('./made.js');
const native = require('./native.js');
const { assemble, assembleSlots, compile, SLOT_WORDS } = require('./row-functions.js');

/** @typedef {import('../index.js').BsonImplementation} BsonImplementation */
/** @typedef {import('./row-functions.js').RowFunction} RowFunction */
/** @typedef {import('./row-functions.js').Tokens} Tokens */

/**
 * @typedef {object} Builders
 * @property {number} number by which the addon knows them
 * @property {<T>(value: T, given: unknown) => T} finish what a function of the addon's that leaves the object to be
 *   made returned: the object
 */

const OBJECT_ID_BYTES = 12;
const UUID_BYTES = 16;
const UUID_SUBTYPE = 4;

/**
 * Makers of rows and identities, by the implementation of BSON whose classes they use. Keyed by what is used of
 * it, so that a spread copy of a module makes no new ones, and one with another class has its own.
 * @typedef {Pick<BsonImplementation, 'Binary' | 'Timestamp' | 'UUID'>} Classes
 * @type {WeakMap<Function, WeakMap<Function, (Builders & { classes: Classes })[]>>}
 */
const known = new WeakMap();

/**
 * The builders of an implementation of BSON.
 * @param {BsonImplementation} bson
 * @returns {Builders}
 */
function buildersOf(bson) {
  let byDeserialize = known.get(bson.ObjectId);
  if (byDeserialize === undefined) {
    byDeserialize = new WeakMap();
    known.set(bson.ObjectId, byDeserialize);
  }
  let all = byDeserialize.get(bson.deserialize);
  if (all === undefined) {
    all = [];
    byDeserialize.set(bson.deserialize, all);
  }
  const { Binary, Timestamp, UUID } = bson;
  for (const builders of all) {
    const { classes } = builders;
    if (classes.Binary === Binary && classes.Timestamp === Timestamp && classes.UUID === UUID)
      return builders;
  }
  const { functions, finish } = createBuilders(bson);
  const builders = { number: native.createBuilders(functions), finish, classes: { Binary, Timestamp, UUID } };
  all.push(builders);
  return builders;
}

/** No shape: the object is made. The number is that of src/builders.rs. */
const MADE = -1;
/**
 * What the shared memory begins with: the shape of the object to be made, whether it is being read, and whether a
 * function that the addon called has thrown.
 */
const SHAPE = 0;
const IS_BUSY = 1;
const HAS_THROWN = 2;
/** Numbers that say what an object of many is made of. */
const OBJECT_WORDS = 5;

/**
 * The functions that src/builders.rs calls, with the array in which it leaves a value, and the one that makes an object
 * that was left to be made.
 * @param {BsonImplementation} bson
 */
function createBuilders({ Binary, ObjectId, Timestamp, UUID, deserialize }) {
  /** Where the addon puts values. @type {import('./row-functions.js').Slots} */
  let slots;
  /** @type {Int32Array} */
  let state;
  /** The value that is left with an object. @type {unknown[]} */
  const left = [undefined];
  /** What many objects are made of. @type {Int32Array} */
  let objects;
  /** The functions of the shapes, by their numbers. @type {RowFunction[]} */
  let rowFunctions = [];
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
  /**
   * Makes an object of the first slots and ObjectIds.
   * @param {RowFunction} rowFunction
   * @param {unknown} given
   * @param {string} together
   * @param {unknown[]} handles
   */
  const run = (rowFunction, given, together, handles) => {
    state[IS_BUSY] = 1;
    try {
      return rowFunction(given, together, handles, 0, 0);
    } finally {
      state[IS_BUSY] = 0;
    }
  };
  /** @param {any} value @param {unknown} given */
  const finish = (value, given) => {
    const shape = state[SHAPE];
    if (shape === MADE) return made(value);
    state[SHAPE] = MADE;
    try {
      return run(rowFunctions[shape], given, value, left);
    } finally {
      if (left[0] !== undefined) left[0] = undefined;
    }
  };
  let isSettling = false;
  /** V8 stops a function without its `finally`. When the event loop turns, none reads any more. */
  const settle = () => {
    isSettling = false;
    state[IS_BUSY] = 0;
  };
  /**
   * Throws what was thrown. To the addon, all that passes here is an exception, and nothing else: where V8 stops
   * JavaScript, no `catch` runs, and the addon must leave everything as it is.
   * @param {unknown} exception
   * @returns {never}
   */
  const rethrow = (exception) => {
    state[HAS_THROWN] = 1;
    throw exception;
  };
  /**
   * What is called often has this written out.
   * @template {unknown[]} A
   * @template T
   * @param {(...args: A) => T} body
   * @returns {(...args: A) => T}
   */
  const rethrowing =
    (body) =>
    (...args) => {
      try {
        return body(...args);
      } catch (exception) {
        return rethrow(exception);
      }
    };
  const functions = {
    left,
    /** The addon's memory: its state, then objects, then slots, then ObjectIds. */
    setShared: (
      /** @type {ArrayBuffer} */ memory,
      /** @type {number} */ objectsAt,
      /** @type {number} */ slotsAt,
      /** @type {number} */ objectIdsAt,
    ) => {
      const words = (objectIdsAt - slotsAt) / Int32Array.BYTES_PER_ELEMENT;
      state = new Int32Array(memory, 0, objectsAt / Int32Array.BYTES_PER_ELEMENT);
      state[SHAPE] = MADE;
      objects = new Int32Array(memory, objectsAt, (slotsAt - objectsAt) / Int32Array.BYTES_PER_ELEMENT);
      slots = {
        places: new Int32Array(memory, slotsAt, words),
        bigints: new BigInt64Array(memory, slotsAt, words / 2),
        doubles: new Float64Array(memory, slotsAt, words / 2),
        objectIds: new Uint8Array(memory, objectIdsAt),
      };
    },
    compile: rethrowing((/** @type {Tokens} */ tokens, /** @type {number} */ shape) => {
      const all = rowFunctions;
      const rowFunction = compile(tokens, makers, slots, OBJECT_ID_BYTES, (settled) => {
        all[shape] = settled;
      });
      all[shape] = rowFunction;
      return rowFunction;
    }),
    forget: () => {
      // Another array: objects that are being made keep theirs.
      rowFunctions = [];
    },
    functionOf: (/** @type {number} */ shape) => rowFunctions[shape],
    make: (
      /** @type {unknown} */ given,
      /** @type {string} */ together,
      /** @type {unknown[]} */ ...handles
    ) => {
      try {
        return run(rowFunctions[state[SHAPE]], given, together, handles);
      } catch (exception) {
        return rethrow(exception);
      }
    },
    makeBy: (
      /** @type {RowFunction} */ rowFunction,
      /** @type {unknown} */ given,
      /** @type {string} */ together,
      /** @type {unknown[]} */ ...handles
    ) => {
      try {
        return run(rowFunction, given, together, handles);
      } catch (exception) {
        return rethrow(exception);
      }
    },
    makeMany: (
      /** @type {object[]} */ results,
      /** @type {number} */ count,
      /** @type {number} */ textsAt,
      /** @type {unknown[]} */ ...handles
    ) => {
      const all = rowFunctions;
      state[IS_BUSY] = 1;
      try {
        for (let at = 0; at < count * OBJECT_WORDS; at += OBJECT_WORDS) {
          const text = objects[at + 3];
          const givenAt = objects[at + 4];
          const together = text < 0 ? '' : /** @type {string} */ (handles[textsAt + text]);
          const rowFunction = all[objects[at]];
          results.push(
            rowFunction(
              givenAt < 0 ? undefined : handles[givenAt],
              together,
              handles,
              objects[at + 1] * SLOT_WORDS,
              objects[at + 2],
            ),
          );
        }
      } catch (exception) {
        rethrow(exception);
      } finally {
        state[IS_BUSY] = 0;
      }
    },
    makeNew: rethrowing(
      (
        /** @type {unknown} */ given,
        /** @type {number} */ tokensAt,
        /** @type {string} */ together,
        /** @type {unknown[]} */ ...handles
      ) => {
        const tokens = /** @type {Tokens} */ (handles.slice(tokensAt));
        return assembleSlots(tokens, given, together, handles, slots, OBJECT_ID_BYTES, makers);
      },
    ),
    assemble: rethrowing(
      (
        /** @type {Tokens} */ tokens,
        /** @type {unknown} */ given,
        /** @type {unknown[]} */ values,
        /** @type {Uint8Array} */ objectIds,
      ) => {
        if (state[IS_BUSY] !== 0 && !isSettling) {
          setImmediate(settle).unref();
          isSettling = true;
        }
        return assemble(tokens, given, values, objectIds, makers);
      },
    ),
    deserializeElement: rethrowing(
      (/** @type {Uint8Array} */ document) => deserialize(document, deserializeOptions)._id,
    ),
    deserializeRawElement: rethrowing(
      (/** @type {Uint8Array} */ document) => deserialize(document, deserializeFieldOptions)._id,
    ),
  };
  return { functions, finish };
}

module.exports = { buildersOf };
