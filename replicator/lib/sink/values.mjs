// Row values that SQLite cannot hold as they are.

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;

/**
 * A row value as SQLite stores it: an integer beyond 64 bits as TEXT of its digits, NaN as NULL; ±Infinity is
 * a REAL in SQLite, too, and all else stays as it is.
 * @param {import('bsonrow').SqliteValue} value
 */
export function storableValue(value) {
  if (typeof value === 'bigint') {
    return value >= MIN_INTEGER && value <= MAX_INTEGER ? value : value.toString();
  }
  return typeof value === 'number' && Number.isNaN(value) ? null : value;
}

/**
 * Columns that found no room in their table, as one JSON object: integers with all their digits, a blob as
 * `{"$hex": "…"}`, a double that JSON has no number for as null.
 * @param {[name: string, value: import('bsonrow').SqliteValue][]} entries
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
