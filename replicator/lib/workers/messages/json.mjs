// The same as JSON text, to compare with: rows are made as JavaScript values in both processes. A value that JSON does
// not have is an object with a tag.

/** @returns {Uint8Array[]} the parts of a message */
export function encode(changes) {
  const text = JSON.stringify(changes.map(toPlain));
  return [Buffer.from(text)];
}

/**
 * @param {Buffer} message
 * @returns {import('../../changes.mjs').Change[]}
 */
export function decode(message) {
  return JSON.parse(message.toString()).map(fromPlain);
}

function toPlain({ key, row, ...fields }) {
  return {
    ...fields,
    key: key?.toString('base64'),
    row: row === undefined ? undefined : mapValues(row, tagged),
  };
}

function fromPlain({ key, row, ...fields }) {
  const change = { ...fields };
  if (key !== undefined) change.key = Buffer.from(key, 'base64');
  if (row !== undefined) change.row = mapValues(row, untagged);
  return change;
}

function tagged(value) {
  if (typeof value === 'bigint') return { bigint: value.toString() };
  if (value instanceof Uint8Array) return { blob: Buffer.from(value).toString('base64') };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { number: Object.is(value, -0) ? '-0' : String(value) };
  return value;
}

function untagged(value) {
  if (value === null || typeof value !== 'object') return value;
  if (value.bigint !== undefined) return BigInt(value.bigint);
  return value.blob === undefined ? Number(value.number) : Buffer.from(value.blob, 'base64');
}

function mapValues(object, work) {
  const result = {};
  for (const name of Object.keys(object)) {
    const value = work(object[name]);
    if (name !== '__proto__') result[name] = value;
    else Object.defineProperty(result, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return result;
}
