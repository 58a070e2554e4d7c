// Row values that a sink cannot hold as they are.
import { EncodedText } from '../encoded-text.mjs';

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;

/** Whether it is an integer of 64 bits, the most that a column of either sink holds. @param {bigint} integer */
export function isInt64(integer) {
  return integer >= MIN_INTEGER && integer <= MAX_INTEGER;
}

/**
 * A row value as SQLite stores it: an integer beyond 64 bits as TEXT of its digits, NaN as NULL; ±Infinity is
 * a REAL in SQLite, too, the bytes of an encoded text are for the statement to make TEXT of, and all else stays as it is.
 * @param {import('../changes.mjs').RowValue} value
 */
export function storableValue(value) {
  if (value instanceof EncodedText) return value.bytes;
  if (typeof value === 'bigint') {
    return isInt64(value) ? value : value.toString();
  }
  return typeof value === 'number' && Number.isNaN(value) ? null : value;
}

/**
 * Columns that found no room in their table, as one JSON object: integers with all their digits, a blob as
 * `{"$hex": "…"}`, a double that JSON has no number for as null.
 * @param {[name: string, value: import('../changes.mjs').RowValue][]} entries
 */
export function overflowJson(entries) {
  const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`);
  return `{${members.join(',')}}`;
}

function jsonOf(value) {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return JSON.stringify({ $hex: Buffer.from(value).toString('hex') });
  return JSON.stringify(value);
}
