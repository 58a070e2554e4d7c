// From an answer of the converter to what makes the same from constants: see src/lib.rs.
import { isTypedArray } from 'node:util/types';
import { groupBuilder, objectBuilder } from './build.mjs';

/**
 * The ways to pass texts. `each`: as a string of its own. `together`: those of up to 64 bytes as slices of one string.
 * `returned`: all as slices of one string, where they fit, which is returned to the JavaScript that called and makes the
 * object, or for a reply's events given to one call of a function for many of them; where they do not fit, as
 * `together`.
 * @typedef {'each' | 'together' | 'returned'} Way
 */

/** @type {Way[]} */
export const ways = ['each', 'together', 'returned'];

/**
 * @typedef {object} Answer
 * @property {Function | null} build
 * @property {Uint8Array} image
 * @property {[kind: number, ...rest: unknown[]][]} handles
 * @property {Answer[]} parts
 * @property {Function} [make] where there is no `build`: makes the answer of the string that is returned
 */

const Handle = Object.freeze({ ABSENT: 0, LATIN1: 1, UTF16: 2, BYTES: 3, EXTERNAL: 4 });

const MAX_SHORT = 64;
/** As in src/parts.rs, src/values.rs and src/builders.rs of the converter. */
const MAX_TOGETHER = 2048;
const MIN_EXTERNAL = 8 << 10;
const MAX_MADE = 32;

const UNIT = 8;
const isLatin1 = (text) => /^[\0-\xff]*$/.test(text);
const isAscii = (text) => /^[\0-\x7f]*$/.test(text);

/** Collects an object's values and writes the expression that makes it of them. */
class Recorder {
  /** Bytes that the expression reads, in units of eight. @type {Buffer[]} */
  #image = [];
  #together = '';
  /** @type {Answer['handles']} */
  #handles = [];
  /** Objects that stand in more than one place, by the variable that keeps them. @type {Map<object, string>} */
  #variables = new Map();
  /** Objects that were written. */
  #written = new Set();

  /**
   * @param {object} answer
   * @param {Way} way
   * @param {{ shared?: Buffer, isGrouped?: boolean }} [options] `shared`: the source, where long texts stand over its
   *   memory; `isGrouped`: whether the object is made by one call with others
   */
  constructor(answer, way, { shared, isGrouped = false } = {}) {
    this.way = way;
    this.shared = shared;
    this.isGrouped = isGrouped;
    this.#findVariables(answer, new Set());
    this.expression = this.#write(answer);
  }

  /** Whether all values pass in the image and in one string. */
  get isWhole() {
    return this.#handles.length === 0;
  }

  /** The function that makes the object, or puts it with the parts. */
  builder(isPart = false) {
    const parameters = [
      ...(this.#hasTogether ? ['together'] : []),
      ...(this.isGrouped ? ['u'] : []),
      ...this.#handles.map((_, index) => `c${index}`),
      ...this.#variables.values(),
    ];
    return objectBuilder(parameters, isPart ? `parts.list.push(${this.expression})` : this.expression);
  }

  get image() {
    return Buffer.concat(this.#image);
  }

  /** What the function takes. @returns {Answer['handles']} */
  get handles() {
    return this.#hasTogether ? [this.together, ...this.#handles] : this.#handles;
  }

  /** @returns {Answer['handles'][0]} */
  get together() {
    return [Handle.LATIN1, Buffer.from(this.#together, 'latin1')];
  }

  get #hasTogether() {
    return this.way !== 'each';
  }

  /** @param {unknown} value @param {Set<object>} seen */
  #findVariables(value, seen) {
    if (typeof value !== 'object' || value === null) return;
    if (seen.has(value)) this.#variables.set(value, `s${this.#variables.size}`);
    else if (isPlain(value) || Array.isArray(value)) {
      for (const inner of Object.values(value)) this.#findVariables(inner, seen);
    }
    seen.add(value);
  }

  /** @param {unknown} value @returns {string} */
  #write(value) {
    switch (typeof value) {
      case 'undefined':
      case 'boolean':
        return String(value);
      case 'bigint':
        return BigInt.asIntN(64, value) === value
          ? `bigints[${this.#at(
              1,
              this.#unit((bytes) => bytes.writeBigInt64LE(value)),
            )}]`
          : `unsigned[${this.#at(
              1,
              this.#unit((bytes) => bytes.writeBigUInt64LE(value)),
            )}]`;
      case 'number':
        return `doubles[${this.#at(
          1,
          this.#unit((bytes) => bytes.writeDoubleLE(value)),
        )}]`;
      case 'string':
        return this.#writeText(value);
      default:
        return value === null ? 'null' : this.#writeShared(/** @type {object} */ (value));
    }
  }

  /** @param {object} value */
  #writeShared(value) {
    const variable = this.#variables.get(value);
    if (variable === undefined) return this.#writeObject(value);
    if (this.#written.has(value)) return variable;
    this.#written.add(value);
    return `${variable} = ${this.#writeObject(value)}`;
  }

  /** @param {any} value */
  #writeObject(value) {
    if (Array.isArray(value)) return `[${value.map((element) => this.#write(element)).join(', ')}]`;
    if (value instanceof Collected) return 'takeParts()';
    if (isPlain(value)) return this.#writeProperties(value);
    if (value instanceof Date) return `new Date(${this.#write(value.getTime())})`;
    if (isTypedArray(value) && !Buffer.isBuffer(value)) return this.#handle(Handle.BYTES, value);
    switch (value._bsontype) {
      case 'ObjectId':
        return `objectId(${this.#bytes(value.id)})`;
      case 'Timestamp':
        return `timestamp(${this.#write(value.high >>> 0)}, ${this.#write(value.low >>> 0)})`;
      case 'Binary':
        return `binary(${this.#bytes(value.buffer.subarray(0, value.position))}, ${value.position}, ${value.sub_type})`;
      case 'MinKey':
      case 'MaxKey':
        return `new ${value._bsontype}()`;
      default:
        throw new Error(`there is no constant for a ${value._bsontype ?? value.constructor?.name}`);
    }
  }

  /** @param {object} value */
  #writeProperties(value) {
    const properties = Object.entries(value).map(([name, inner]) => {
      const quoted = JSON.stringify(name);
      return `${name === '__proto__' ? `[${quoted}]` : quoted}: ${this.#write(inner)}`;
    });
    return `{ ${properties.join(', ')} }`;
  }

  /** @param {string} text */
  #writeText(text) {
    if (this.way === 'each') return this.#textHandle(text);
    const fits = this.#together.length + text.length <= MAX_TOGETHER && isLatin1(text);
    const isTogether = fits && (this.way === 'returned' || text.length <= MAX_SHORT);
    const start = isTogether ? this.#together.length : -1;
    if (isTogether) this.#together += text;
    const unit = this.#unit((bytes) => {
      bytes.writeInt32LE(start);
      bytes.writeInt32LE(start + text.length, 4);
    });
    const [from, to] = [0, 1].map((end) => `places[${this.#at(2, 2 * unit + end)}]`);
    const slice = `together.substring(${from}, ${to})`;
    if (this.way === 'returned' && isTogether) return slice;
    return `(${from} >= 0 ? ${slice} : ${isTogether ? this.#handle(Handle.ABSENT) : this.#textHandle(text)})`;
  }

  /** @param {string} text */
  #textHandle(text) {
    if (this.shared !== undefined && text.length >= MIN_EXTERNAL && isAscii(text)) {
      return this.#handle(Handle.EXTERNAL, this.shared.indexOf(text, 'latin1'), text.length);
    }
    return isLatin1(text)
      ? this.#handle(Handle.LATIN1, Buffer.from(text, 'latin1'))
      : this.#handle(Handle.UTF16, Buffer.from(text, 'utf16le'));
  }

  /** @param {Answer['handles'][0]} handle */
  #handle(...handle) {
    this.#handles.push(handle);
    return `c${this.#handles.length - 1}`;
  }

  /** A unit of the image. @param {(bytes: Buffer) => void} write @returns {number} its index */
  #unit(write) {
    const bytes = Buffer.alloc(UNIT);
    write(bytes);
    return this.#image.push(bytes) - 1;
  }

  /** An index into the image, of which one of a group of objects begins at unit `u`. */
  #at(indicesAUnit, index) {
    return this.isGrouped ? `${indicesAUnit} * u + ${index}` : String(index);
  }

  /** Bytes in units of the image. @param {Uint8Array} bytes @returns {string} where they begin */
  #bytes(bytes) {
    const start = this.#image.length * UNIT;
    for (let at = 0; at < bytes.length; at += UNIT) {
      this.#unit((unit) => {
        unit.set(bytes.subarray(at, at + UNIT));
      });
    }
    return this.#at(UNIT, start);
  }
}

/** @param {object} value */
const isPlain = (value) => Object.getPrototypeOf(value) === Object.prototype;

/** Stands for the array of the parts that were made before. */
class Collected {}

/** An answer by a call of its function. @returns {Answer} */
const called = (recorder, { isPart = false, parts = [] } = {}) => ({
  build: recorder.builder(isPart),
  image: recorder.image,
  handles: recorder.handles,
  parts,
});

/** An answer that whoever called makes. @returns {Answer} */
const returned = (recorder) => ({
  build: null,
  image: recorder.image,
  handles: [recorder.together],
  parts: [],
  make: recorder.builder(),
});

/** Parts by one call for many. @returns {Answer[]} */
function inGroups(recorders) {
  const groups = [];
  for (let start = 0; start < recorders.length; start += MAX_MADE) {
    const group = recorders.slice(start, start + MAX_MADE);
    groups.push({
      build: groupBuilder(
        group.map((recorder) => recorder.builder()),
        group.map(({ image }) => image.length / UNIT),
      ),
      image: Buffer.concat(group.map(({ image }) => image)),
      handles: group.map(({ together }) => together),
      parts: [],
    });
  }
  return groups;
}

/** @returns {Answer[]} */
function partsOf(changes, way) {
  const isGrouped = way === 'returned';
  const recorders = changes.map((change) => new Recorder(change, way, { isGrouped }));
  if (!isGrouped) return recorders.map((recorder) => called(recorder, { isPart: true }));
  return recorders.every(({ isWhole }) => isWhole) ? inGroups(recorders) : partsOf(changes, 'together');
}

/**
 * @param {object} answer as the converter gives it
 * @param {Way} way
 * @param {{ isReply?: boolean, shared?: Buffer }} options
 * @returns {Answer}
 */
export function answerOf(answer, way, { isReply = false, shared } = {}) {
  if (isReply) {
    const reply = new Recorder({ ...answer, changes: new Collected() }, 'together');
    return called(reply, { parts: partsOf(answer.changes, way) });
  }
  const recorder = new Recorder(answer, way, { shared });
  if (way !== 'returned') return called(recorder);
  return recorder.isWhole ? returned(recorder) : called(new Recorder(answer, 'together', { shared }));
}
