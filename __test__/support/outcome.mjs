/** What a call came to, as a value, and how two results are compared. */
import { inspect, isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** `{ value }` or `{ error }`. */
export function attempt(call) {
  try {
    return { value: call() };
  } catch (error) {
    return { error };
  }
}

const IN_FULL = {
  depth: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
  maxStringLength: Number.POSITIVE_INFINITY,
};

/** Equal, of equal classes. Two invalid dates are not deeply equal, so what differs is looked at a second time. */
const isSame = (actual, expected) =>
  Object.is(actual, expected) ||
  isDeepStrictEqual(actual, expected) ||
  inspect(actual, IN_FULL) === inspect(expected, IN_FULL);

/** Rows are equal when their columns are, in the same order, with values of the same type. */
export function sameRow(actual, expected) {
  const names = Object.keys(actual);
  const expectedNames = Object.keys(expected);
  if (names.length !== expectedNames.length) return false;
  for (let index = 0; index < names.length; index++) {
    const name = names[index];
    if (name !== expectedNames[index]) return false;
    if (!isSame(actual[name], expected[name])) return false;
  }
  return true;
}

/** A row without the column that the oracle loses or takes for the prototype: the first decided difference. */
export function withoutProto(row) {
  if (!Object.hasOwn(row, '__proto__')) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== '__proto__'));
}

/** Expects equal rows; the slow, telling comparison is only made for rows that differ. */
export function expectRow(actual, expected, message) {
  if (sameRow(actual, expected)) return;
  expect(actual, message).toStrictEqual(expected);
  expect(Object.keys(actual), `${message ?? ''} (order of columns)`).toEqual(Object.keys(expected));
  expect.fail(`rows differ in a way that is not shown: ${message}`);
}

/** Expects equal values of equal classes (identities, events). */
export function expectSame(actual, expected, message) {
  if (isSame(actual, expected)) return;
  expect(actual, message).toStrictEqual(expected);
  expect.fail(`values differ in a way that is not shown: ${message}`);
}

const MESSAGES = [
  /^Invalid BSON document length$/,
  /^Invalid BSON document terminator$/,
  /^Invalid BSON string length$/,
  /^Invalid BSON string terminator$/,
  /^Invalid BSON: missing cstring terminator$/,
  /^Invalid BSON regex$/,
  /^Invalid BSON binary length$/,
  /^Invalid BSON legacy binary length$/,
  /^Unsupported BSON nested type: 0x[0-9a-f]{1,2}$/,
  /^Unsupported BSON type for skip: 0x[0-9a-f]{1,2}$/,
  /^json nested object depth exceeds the limit of 20$/,
  /^Invalid time value$/,
  // What the TypeScript converter has no message for: it reads on past the end.
  /^Invalid BSON: element exceeds its document$/,
  /^Invalid BSON code with scope length$/,
];

/** Expects an error of the shape that every conversion error has. */
export function expectBsonRowError(error, length, message) {
  expect(error, message).toBeInstanceOf(Error);
  if (!/^BSONROW_[A-Z0-9_]+$/.test(error.code)) throw error;
  if (!Number.isInteger(error.offset) || error.offset < 0 || error.offset > length) {
    expect.fail(`offset ${error.offset} is not within 0..${length}: ${message}`);
  }
  if (!Array.isArray(error.path) || !error.path.every((name) => typeof name === 'string')) {
    expect.fail(`path is not an array of strings: ${message}`);
  }
}

/** Whether the message is one of those that the contract lists for malformed bytes. */
export const isListedMessage = (text) => MESSAGES.some((pattern) => pattern.test(text));
