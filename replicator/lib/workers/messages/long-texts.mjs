// Finds the long texts of an encoded row, and has them decoded as bytes: bin 16 and bin 32 differ from str 16 and str 32
// in their first byte alone, which is changed.
//
// A row is a table of one document, as bsonrow writes it (see its docs/message-pack.md):
// [ { names: [ 'row', [ …names ], 'replicaId' ], rows: [ [ [ …values ], replicaId ] ] } ]
// Where the identity is a document, the list of its names stands behind 'replicaId'.

const MAP_OF_2 = 0x82;
const [BIN_8, BIN_16, BIN_32] = [0xc4, 0xc5, 0xc6];
const [EXT_8, EXT_16, EXT_32] = [0xc7, 0xc8, 0xc9];
const [STR_8, STR_16, STR_32] = [0xd9, 0xda, 0xdb];
const [FIRST_FIXARRAY, LAST_FIXARRAY] = [0x90, 0x9f];
const [ARRAY_16, ARRAY_32] = [0xdc, 0xdd];
/** Nil and fixext 16. */
const [FIRST_FIXED, LAST_FIXED] = [0xc0, 0xd8];
/** Bytes of a value, by its format from one to the other; 0 where each has its own length, or where it is none. */
const FIXED = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18];

/**
 * @param {Buffer} row which is changed
 * @param {number} minBytes of a long text, 256 or more
 * @returns {number[]} which of the row's values they are
 */
export function longTextsToBytes(row, minBytes) {
  const walk = new Walk(row);
  walk.array(1);
  if (row[walk.at] !== MAP_OF_2) throw walk.error();
  walk.at += 1;
  walk.skip();
  const entries = walk.array(3, 4);
  walk.skip();
  const count = walk.array();
  // The row's names, and that of `replicaId`.
  for (let i = 0; i < count + 1; i += 1) walk.skip();
  if (entries === 4) walk.skipNames();
  // That of `rows`.
  walk.skip();
  walk.array(1);
  walk.array(2);
  walk.array(count);

  const long = [];
  for (let i = 0; i < count; i += 1) {
    const start = walk.at;
    const format = row[start];
    walk.skip();
    // No shorter format holds so many bytes.
    const isText16 = format === STR_16;
    if (!isText16 && format !== STR_32) continue;
    if (walk.at - start - (isText16 ? 3 : 5) < minBytes) continue;
    row[start] = isText16 ? BIN_16 : BIN_32;
    long.push(i);
  }
  return long;
}

const isArray = (format) =>
  (format >= FIRST_FIXARRAY && format <= LAST_FIXARRAY) || format === ARRAY_16 || format === ARRAY_32;

/** Goes from value to value. A value that is missing or cut short is an error. */
class Walk {
  at = 0;
  #row;

  constructor(row) {
    this.#row = row;
  }

  /** Enters an array. @param {...number} wanted lengths; none: any @returns {number} its length */
  array(...wanted) {
    const length = this.#arrayLength();
    const isWanted = wanted.length === 0 || wanted.includes(length);
    if (length > this.#row.length || !isWanted) throw this.error();
    return length;
  }

  #arrayLength() {
    const format = this.#row[this.at];
    if (!isArray(format)) throw this.error();
    if (format <= LAST_FIXARRAY) {
      this.at += 1;
      return format & 0x0f;
    }
    const size = format === ARRAY_16 ? 2 : 4;
    const length = this.#number(size);
    this.at += 1 + size;
    return length;
  }

  /** Passes a list of names, in which such a list may stand behind a name. */
  skipNames() {
    for (let left = this.array(); left > 0; left -= 1) {
      if (isArray(this.#row[this.at])) left += this.array();
      else this.skip();
    }
  }

  /** Passes a value that is neither an array nor a map. */
  skip() {
    this.at += this.#length();
    if (this.at > this.#row.length) throw this.error();
  }

  #length() {
    const format = this.#row[this.at];
    if (format < 0x80 || format >= 0xe0) return 1;
    if (format >= 0xa0 && format <= 0xbf) return 1 + (format & 0x1f);
    switch (format) {
      case STR_8:
      case BIN_8:
        return 2 + this.#number(1);
      case STR_16:
      case BIN_16:
        return 3 + this.#number(2);
      case STR_32:
      case BIN_32:
        return 5 + this.#number(4);
      case EXT_8:
        return 3 + this.#number(1);
      case EXT_16:
        return 4 + this.#number(2);
      case EXT_32:
        return 6 + this.#number(4);
    }
    const length = format >= FIRST_FIXED && format <= LAST_FIXED ? FIXED[format - FIRST_FIXED] : 0;
    if (length === 0) throw this.error();
    return length;
  }

  /** The one behind the format's byte. */
  #number(size) {
    if (this.at + 1 + size > this.#row.length) throw this.error();
    return this.#row.readUIntBE(this.at + 1, size);
  }

  error() {
    return new Error(`a row is not what bsonrow writes: byte ${this.at}`);
  }
}
