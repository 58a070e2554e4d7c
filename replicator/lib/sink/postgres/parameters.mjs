// Values as parameters. Of many rows, a column is an array in the binary form of the wire: one parameter a column,
// whatever the number of rows, and no value is escaped. Of a row alone, each value is one. The binary form of a text is
// its UTF-8, which is the encoding of every connection.
import { EncodedText } from '../../encoded-text.mjs';

const HEADER_BYTES = 20;
const NULL_LENGTH = -1;
/** Object identifiers of the element types, fixed in PostgreSQL's pg_type. */
const ELEMENT_TYPE = { bytea: 17, bigint: 20, text: 25, 'double precision': 701 };

const CODEC = {
  bytea: {
    size: (value) => value.length,
    write: (buffer, value, offset) => buffer.set(value, offset),
  },
  bigint: {
    size: () => 8,
    write: (buffer, value, offset) => buffer.writeBigInt64BE(value, offset),
  },
  'double precision': {
    size: () => 8,
    write: (buffer, value, offset) => buffer.writeDoubleBE(value, offset),
  },
  text: {
    size: (value) => (value instanceof EncodedText ? value.bytes.length : Buffer.byteLength(value)),
    write: (buffer, value, offset) => {
      if (value instanceof EncodedText) buffer.set(value.bytes, offset);
      else buffer.write(value, offset);
    },
  },
};

/**
 * @param {import('./values.mjs').ColumnType} type
 * @param {import('../../changes.mjs').RowValue[]} values at least one
 * @returns {Buffer | string} a parameter for pg, which takes a Buffer for the binary form and a string for text
 */
export function encodeArray(type, values) {
  // The binary form of numeric is digits to the base 10,000; its text form is all in characters that need no quotes.
  if (type === 'numeric') return `{${values.map((value) => value ?? 'NULL').join(',')}}`;

  const { size, write } = CODEC[type];
  const sizes = new Int32Array(values.length);
  let total = HEADER_BYTES;
  let hasNull = false;
  values.forEach((value, i) => {
    sizes[i] = value === null ? NULL_LENGTH : size(value);
    hasNull ||= value === null;
    total += 4 + Math.max(0, sizes[i]);
  });

  const buffer = Buffer.allocUnsafe(total);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(hasNull ? 1 : 0, 4);
  buffer.writeInt32BE(ELEMENT_TYPE[type], 8);
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let offset = HEADER_BYTES;
  values.forEach((value, i) => {
    buffer.writeInt32BE(sizes[i], offset);
    offset += 4;
    if (value === null) return;
    write(buffer, value, offset);
    offset += sizes[i];
  });
  return buffer;
}

/**
 * @param {import('../../changes.mjs').RowValue} value
 * @returns {Uint8Array | string | null} a parameter for pg; a number in the text form, which has all its digits
 */
export function encodeValue(value) {
  if (value instanceof EncodedText) return value.bytes;
  return value === null || value instanceof Uint8Array ? value : String(value);
}
