/**
 * Events that `$changeStreamSplitLargeEvent` has cut: each fragment is an event of some of the top-level fields, with
 * a resume token of its own and `splitEvent: { fragment, of }`.
 */
const { Buffer } = require('node:buffer');
const { parseChangeDocument } = require('./functions.js');

/** Bytes of a BSON document's length. */
const LENGTH = 4;

class SplitEventMerger {
  /** The elements of the fragments so far, by name: a Map keeps a name's first place and its last value. */
  #elements = new Map();
  /** How many fragments have come, and how many there are. */
  #received = 0;
  #of = 0;

  get pending() {
    return this.#received;
  }

  reset() {
    this.#elements = new Map();
    this.#received = 0;
    this.#of = 0;
  }

  /** @param {Uint8Array} event */
  push(event) {
    const splitEvent = readSplitEvent(event);
    const problem = this.#problemOf(splitEvent);
    if (problem !== undefined) {
      this.reset();
      throw Object.assign(new Error(`Split event: ${problem}`), { code: 'BSONROW_SPLIT_EVENT' });
    }
    if (splitEvent === undefined) return event;
    this.#of = splitEvent.of;
    this.#received++;
    // A copy, since a reply is many times as large as what is kept of it.
    for (const [name, element] of elementsOf(Buffer.from(event))) this.#elements.set(name, element);
    if (this.#received < this.#of) return null;
    this.#elements.delete('splitEvent');
    const merged = documentOf([...this.#elements.values()]);
    this.reset();
    return merged;
  }

  /**
   * What is wrong with this event as the next one, if anything.
   * @param {SplitEvent | undefined} splitEvent
   */
  #problemOf(splitEvent) {
    const expected = this.#received + 1;
    if (splitEvent === undefined) {
      return expected > 1
        ? `fragment ${expected} of ${this.#of} is missing, a whole event came instead`
        : undefined;
    }
    const { fragment, of } = splitEvent;
    if (!(Number.isInteger(fragment) && Number.isInteger(of) && fragment >= 1 && fragment <= of)) {
      return `fragment ${fragment} of ${of} cannot be`;
    }
    if (expected > 1 && of !== this.#of) {
      return `fragment ${expected} of ${this.#of} is missing, one of an event of ${of} came instead`;
    }
    if (fragment < expected) return `fragment ${fragment} of ${of} came again`;
    if (fragment > expected)
      return `fragment ${expected} of ${of} is missing, fragment ${fragment} came instead`;
    return undefined;
  }
}

/** @typedef {{ fragment: number, of: number }} SplitEvent */

/**
 * Which fragment an event is; undefined where it is whole. Reads the event's top level, so that what is walked over
 * afterwards is known to be well-formed.
 * @param {Uint8Array} event
 * @returns {SplitEvent | undefined}
 */
function readSplitEvent(event) {
  const { splitEvent } = parseChangeDocument(event);
  if (splitEvent === undefined || splitEvent === null) return undefined;
  return { fragment: Number(splitEvent.fragment), of: Number(splitEvent.of) };
}

/**
 * The elements of a well-formed document, by name.
 * @param {Buffer} bytes
 * @returns {Generator<[string, Buffer]>}
 */
function* elementsOf(bytes) {
  const end = bytes.readInt32LE(0) - 1;
  for (let at = LENGTH; at < end; ) {
    const nameEnd = bytes.indexOf(0, at + 1);
    const next = valueEnd(bytes, bytes[at], nameEnd + 1);
    // Shared memory may have changed since it was read.
    if (!(nameEnd > at && next > nameEnd && next <= end))
      throw new RangeError('event was written to meanwhile');
    // One character a byte: names that differ in any byte are two.
    yield [bytes.toString('latin1', at + 1, nameEnd), bytes.subarray(at, next)];
    at = next;
  }
}

/**
 * The end of a value.
 * @param {Buffer} bytes
 * @param {number} type
 * @param {number} at
 */
function valueEnd(bytes, type, at) {
  switch (type) {
    // String, code, symbol: a length, and as many bytes.
    case 0x02:
    case 0x0d:
    case 0x0e:
      return at + LENGTH + bytes.readInt32LE(at);
    // Document, array, code with scope: the length is of all of it.
    case 0x03:
    case 0x04:
    case 0x0f:
      return at + bytes.readInt32LE(at);
    // Binary: a subtype behind the length.
    case 0x05:
      return at + LENGTH + 1 + bytes.readInt32LE(at);
    // Regular expression: two cstrings.
    case 0x0b:
      return bytes.indexOf(0, bytes.indexOf(0, at) + 1) + 1;
    // DBPointer: a string and an ObjectId.
    case 0x0c:
      return at + LENGTH + bytes.readInt32LE(at) + 12;
    default:
      return at + (WIDTHS[type] ?? 0);
  }
}

/** Bytes of the values of fixed width; of the types that are not here, none. @type {Record<number, number>} */
const WIDTHS = { 1: 8, 7: 12, 8: 1, 9: 8, 16: 4, 17: 8, 18: 8, 19: 16 };

/** @param {Buffer[]} elements */
function documentOf(elements) {
  const document = Buffer.concat([Buffer.alloc(LENGTH), ...elements, Buffer.of(0)]);
  document.writeInt32LE(document.length);
  return document;
}

module.exports = { SplitEventMerger };
