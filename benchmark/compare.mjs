// Answers are compared before anything is timed. The TypeScript converter's answer is the right one.
import { inspect, isDeepStrictEqual } from 'node:util';
import { readMaps, readRows } from './messages.mjs';

/** What must be equal in a result, whatever a contender leaves for later. */
const answerOf = {
  row: ({ row, replicaId }) => ({ row: withTexts(row), replicaId }),
  sharedRow: ({ row, replicaId }) => ({ row, replicaId }),
  someColumns: ({ row, replicaId }) => ({ row, replicaId }),
  somePaths: ({ row, replicaId }) => ({ row, replicaId }),
  // Spread reads what is not read yet.
  lazyRow: ({ row, replicaId }) => ({ row: { ...row }, replicaId }),
  columns: (row) => row,
  event: ({ change, converted, before }) => ({ change: withoutDocuments(change), converted, before }),
  change: withRows,
  // The events are what is compared; of a reply's own fields a contender may give more or fewer.
  batch: (batch) => (batch.changes ?? batch).map(withRows),
  message: readMaps,
  table: readRows,
};

/** An event in the form that `convertChange` gives it, from that or from rows beside its fields. */
function withRows(result) {
  if (!('converted' in result)) return result;
  const { change, converted, before } = result;
  return {
    ...withoutDocuments(change),
    row: converted?.row ?? null,
    ...('fullDocumentBeforeChange' in change && { rowBefore: before ?? null }),
    replicaId: change.documentKey?._id,
  };
}

/**
 * Contenders keep the documents of an event, and its description of an update, in different forms: as BSON or
 * deserialised. Content that a replicator stores is in the row.
 */
function withoutDocuments(change) {
  const { fullDocument, fullDocumentBeforeChange, updateDescription, ...fields } = change;
  return fields;
}

/** An array that a contender leaves as such is JSON text in a row. */
const withTexts = (row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value]),
  );

/** A result, or the error that stands for it. */
function attempt(convert, document, kind) {
  try {
    return answerOf[kind](convert(document));
  } catch (error) {
    return { error: error.message };
  }
}

/**
 * @param {import('./scenarios/index.mjs').Scenario['kind']} kind
 * @param {(bytes: Buffer) => any} reference
 * @param {(bytes: Buffer) => any} convert
 * @param {Buffer[]} documents
 * @returns {string | undefined} the first difference, in words
 */
export function firstDifference(kind, reference, convert, documents) {
  for (const [index, document] of documents.entries()) {
    const expected = attempt(reference, document, kind);
    const actual = attempt(convert, document, kind);
    if (isDeepStrictEqual(actual, expected)) continue;
    return `document ${index}: ${describe(expected, actual)}`;
  }
  return undefined;
}

/** The innermost difference of two answers, cut to a line. */
function describe(expected, actual, path = []) {
  const isObject = (value) => typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
  if (isObject(expected) && isObject(actual)) {
    for (const name of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
      if (!isDeepStrictEqual(actual[name], expected[name])) {
        return describe(expected[name], actual[name], [...path, name]);
      }
    }
  }
  return `${path.join('.')} is ${printed(actual)}, expected ${printed(expected)}`;
}

function printed(value) {
  const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 80 });
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
