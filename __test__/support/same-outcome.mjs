/** Whether a batch comes to the same off the main thread: results, and errors in place of some of them or thrown. */
import { expect } from 'vitest';
import { attempt, expectSame } from './outcome.mjs';

/** Expects errors of the same class, message and properties, which stand in the same order. */
export function expectSameError(actual, expected, message) {
  expect(actual, message).toBeInstanceOf(Error);
  expect(actual.constructor, message).toBe(expected.constructor);
  expect(actual.message, message).toBe(expected.message);
  expect(Object.keys(actual), message).toEqual(Object.keys(expected));
  for (const [name, value] of Object.entries(expected)) {
    if (value instanceof Error) expectSameError(actual[name], value, `${message}, ${name}`);
    else expectSame(actual[name], value, `${message}, ${name}`);
  }
}

/** Expects equal results, those that are errors among them. */
export function expectSameResults(actual, expected) {
  expect(actual.length).toBe(expected.length);
  for (const [index, value] of expected.entries()) {
    if (value instanceof Error) expectSameError(actual[index], value, `index ${index}`);
    else expectSame(actual[index], value, `index ${index}`);
  }
}

function expectSameBatch(actual, expected) {
  if (Array.isArray(expected)) {
    expectSameResults(actual, expected);
    return;
  }
  expect(Object.keys(actual)).toEqual(Object.keys(expected));
  const { changes, documents, ...fields } = expected;
  const { changes: actualChanges, documents: actualDocuments, ...actualFields } = actual;
  expectSame(actualFields, fields);
  expectSameResults(actualChanges ?? actualDocuments, changes ?? documents);
}

/**
 * Expects that a promise comes to what a call does.
 * @param {Promise<unknown>} promise
 * @param {() => unknown} call
 * @returns what both came to
 */
export async function expectSameOutcome(promise, call) {
  const { value, error } = attempt(call);
  if (error === undefined) {
    expectSameBatch(await promise, value);
    return { value };
  }
  const settled = await promise.then(
    () => expect.fail(`resolved where the call throws: ${error.message}`),
    (reason) => reason,
  );
  expectSameError(settled, error, 'rejection');
  return { error };
}
