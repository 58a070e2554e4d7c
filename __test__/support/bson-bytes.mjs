/**
 * A small, explicit BSON writer. It writes exactly the bytes it is told to, so that a test can spell out malformed
 * and exotic documents: nothing is checked, sorted or normalised, and every length can be overruled.
 *
 * A name or a text is a string (written as UTF-8) or an array or Buffer of bytes (written as they are).
 */

/** Element types of the BSON specification, by the names used throughout the tests. */
export const Type = {
  DOUBLE: 0x01,
  STRING: 0x02,
  DOCUMENT: 0x03,
  ARRAY: 0x04,
  BINARY: 0x05,
  UNDEFINED: 0x06,
  OBJECT_ID: 0x07,
  BOOLEAN: 0x08,
  DATETIME: 0x09,
  NULL: 0x0a,
  REGEX: 0x0b,
  DB_POINTER: 0x0c,
  CODE: 0x0d,
  SYMBOL: 0x0e,
  CODE_WITH_SCOPE: 0x0f,
  INT32: 0x10,
  TIMESTAMP: 0x11,
  INT64: 0x12,
  DECIMAL128: 0x13,
  MIN_KEY: 0xff,
  MAX_KEY: 0x7f,
};

/** Text or bytes to bytes. */
export function toBytes(text) {
  return typeof text === 'string' ? Buffer.from(text, 'utf8') : Buffer.from(text);
}

/** `'0a ff'` to bytes; spaces are free. */
export function hex(digits) {
  return Buffer.from(digits.replace(/\s+/g, ''), 'hex');
}

/** A little-endian 32-bit integer. */
export function int32Bytes(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes;
}

/** A little-endian 64-bit integer; wraps, so both signed and unsigned values fit. */
export function int64Bytes(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt.asIntN(64, BigInt(value)));
  return bytes;
}

/** A little-endian double. */
export function doubleBytes(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

/** Bytes up to and including the terminator. */
export function cstringBytes(text) {
  return Buffer.concat([toBytes(text), Buffer.of(0)]);
}

/** A length-prefixed string; `length` and `terminator` overrule the right ones. */
export function stringBytes(text, { length, terminator = 0 } = {}) {
  const bytes = toBytes(text);
  return Buffer.concat([int32Bytes(length ?? bytes.length + 1), bytes, Buffer.of(terminator)]);
}

/** One element: type byte, name, payload. */
export function element(type, name, payload = Buffer.alloc(0)) {
  return Buffer.concat([Buffer.of(type), cstringBytes(name), toBytes(payload)]);
}

/** A document around elements; `length` and `terminator` overrule the right ones. */
export function document(elements, { length, terminator = 0 } = {}) {
  const body = Buffer.concat(elements);
  return Buffer.concat([int32Bytes(length ?? body.length + 5), body, Buffer.of(terminator)]);
}

/**
 * The payload of each element type that has one. `document` takes elements made by `element`.
 */
export const payload = {
  double: doubleBytes,
  string: stringBytes,
  document,
  /** An array of `[type, payload]` pairs, with the usual decimal names. */
  array: (values) => document(values.map(([type, bytes], index) => element(type, String(index), bytes))),
  binary: (subtype, data, { length } = {}) => {
    const bytes = toBytes(data);
    return Buffer.concat([int32Bytes(length ?? bytes.length), Buffer.of(subtype), bytes]);
  },
  /** Subtype 2 carries a second length inside. */
  legacyBinary: (data, { length, innerLength } = {}) => {
    const bytes = toBytes(data);
    return Buffer.concat([
      int32Bytes(length ?? bytes.length + 4),
      Buffer.of(2),
      int32Bytes(innerLength ?? bytes.length),
      bytes,
    ]);
  },
  objectId: (digits) => hex(digits),
  boolean: (byte) => Buffer.of(Number(byte)),
  datetime: int64Bytes,
  regex: (pattern, options) => Buffer.concat([cstringBytes(pattern), cstringBytes(options)]),
  dbPointer: (namespace, digits) => Buffer.concat([stringBytes(namespace), hex(digits)]),
  codeWithScope: (code, scope, { length } = {}) => {
    const body = Buffer.concat([stringBytes(code), scope]);
    return Buffer.concat([int32Bytes(length ?? body.length + 4), body]);
  },
  int32: int32Bytes,
  int64: int64Bytes,
  timestamp: (seconds, increment) => Buffer.concat([int32Bytes(increment), int32Bytes(seconds)]),
};

/** The elements that tests need most: an int32, a string, and a document of elements. */
export const int = (name, value) => element(Type.INT32, name, payload.int32(value));
export const string = (name, text) => element(Type.STRING, name, payload.string(text));
export const nested = (name, ...elements) => element(Type.DOCUMENT, name, document(elements));

/** A document of one element with an `_id` before it, which `rawToSqliteRow` asks for. */
export function withId(...elements) {
  return document([int('_id', 1), ...elements]);
}

/** A document inside a document …, `depth` containers below the column `d`, around an innermost empty one. */
export function nestedDocument(depth) {
  let bytes = document([]);
  for (let level = 0; level < depth; level++) bytes = document([element(Type.DOCUMENT, 'a', bytes)]);
  return withId(element(Type.DOCUMENT, 'd', bytes));
}
