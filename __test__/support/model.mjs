/**
 * A second, deliberately plain reading of the BSON rules, which says whether bytes are a document that a converter
 * has to accept: every element lies within its enclosing document, terminator included. It builds nothing, so it can
 * be checked by eye.
 *
 * Accepted though the specification forbids it, because the result is well defined: bytes after the document, any
 * boolean byte, a shorter inner length of subtype 2, any names in arrays, ill-formed UTF-8.
 */
import { Type } from './bson-bytes.mjs';

const WIDTHS = new Map([
  [Type.DOUBLE, 8],
  [Type.UNDEFINED, 0],
  [Type.OBJECT_ID, 12],
  [Type.BOOLEAN, 1],
  [Type.DATETIME, 8],
  [Type.NULL, 0],
  [Type.INT32, 4],
  [Type.TIMESTAMP, 8],
  [Type.INT64, 8],
  [Type.DECIMAL128, 16],
  [Type.MIN_KEY, 0],
  [Type.MAX_KEY, 0],
]);

class Refused extends Error {}

function demand(condition, reason) {
  if (!condition) throw new Refused(reason);
}

function int32(bytes, at, end) {
  demand(at + 4 <= end, 'cut');
  return bytes.readInt32LE(at);
}

function afterCstring(bytes, at, end) {
  const zero = bytes.indexOf(0, at);
  demand(zero >= 0 && zero < end, 'cstring');
  return zero + 1;
}

function afterString(bytes, at, end) {
  const length = int32(bytes, at, end);
  demand(length >= 1 && at + 4 + length <= end, 'string length');
  demand(bytes[at + 3 + length] === 0, 'string terminator');
  return at + 4 + length;
}

function afterBinary(bytes, at, end) {
  const length = int32(bytes, at, end);
  demand(length >= 0 && at + 5 + length <= end, 'binary length');
  if (bytes[at + 4] === 2) {
    demand(length >= 4, 'legacy binary length');
    const inner = bytes.readInt32LE(at + 5);
    demand(inner >= 0 && inner <= length - 4, 'legacy binary length');
  }
  return at + 5 + length;
}

function afterCodeWithScope(bytes, at, end) {
  const length = int32(bytes, at, end);
  demand(length >= 0 && at + length <= end, 'code with scope length');
  const afterCode = afterString(bytes, at + 4, at + length);
  demand(afterDocument(bytes, afterCode, at + length) === at + length, 'code with scope length');
  return at + length;
}

function afterValue(type, bytes, at, end) {
  const width = WIDTHS.get(type);
  if (width !== undefined) {
    demand(at + width <= end, 'cut');
    return at + width;
  }
  switch (type) {
    case Type.STRING:
    case Type.SYMBOL:
    case Type.CODE:
      return afterString(bytes, at, end);
    case Type.DOCUMENT:
    case Type.ARRAY:
      return afterDocument(bytes, at, end);
    case Type.BINARY:
      return afterBinary(bytes, at, end);
    case Type.REGEX:
      return afterCstring(bytes, afterCstring(bytes, at, end), end);
    case Type.DB_POINTER: {
      const oid = afterString(bytes, at, end);
      demand(oid + 12 <= end, 'cut');
      return oid + 12;
    }
    case Type.CODE_WITH_SCOPE:
      return afterCodeWithScope(bytes, at, end);
    default:
      throw new Refused('type');
  }
}

function afterDocument(bytes, start, limit) {
  const length = int32(bytes, start, limit);
  demand(length >= 5 && start + length <= limit, 'document length');
  const end = start + length - 1;
  demand(bytes[end] === 0, 'document terminator');
  let at = start + 4;
  while (at < end) at = afterValue(bytes[at], bytes, afterCstring(bytes, at + 1, end), end);
  return end + 1;
}

/** Undefined where a converter has to accept the document, else a word on why not. */
export function refusal(bytes) {
  try {
    afterDocument(bytes, 0, bytes.length);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.message;
  }
}

/** The top-level elements of a well-formed document, each with its type, name and value. */
export function splitElements(bytes) {
  const end = bytes.readInt32LE(0) - 1;
  const elements = [];
  for (let at = 4; at < end; ) {
    const next = afterValue(bytes[at], bytes, afterCstring(bytes, at + 1, end), end);
    elements.push(bytes.subarray(at, next));
    at = next;
  }
  return elements;
}
