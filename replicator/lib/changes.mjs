// A change: what happened to the rows of one collection, whatever source it came from. Sources end in changes,
// sinks begin with them; a change is plain data where it is read, so that it can cross to another process.

/**
 * @typedef {import('bsonrow').SqliteValue | import('./encoded-text.mjs').EncodedText} RowValue
 *
 * @typedef {object} Change
 * @property {'put' | 'remove' | 'drop' | 'rename' | 'dropDatabase' | 'none'} kind
 *   `put` stores the whole row in place of any earlier one, `remove` takes the row away, `drop` the whole
 *   collection; `rename` moves a collection over any collection of the new name; `none` changes no row.
 * @property {string} operation the event's `operationType`, or `document` for a plain document
 * @property {string} [namespace] all kinds but `dropDatabase` and `none`
 * @property {Buffer} [key] `put` and `remove`: see key.mjs
 * @property {Record<string, RowValue>} [row] `put`
 * @property {string} [to] `rename`: the new namespace
 * @property {string} [database] `dropDatabase`
 * @property {keyof typeof ISSUES} [issue] `none`: why the change could not be applied
 */

/** Changes that are reported and counted, as no row can be made to follow them. */
export const ISSUES = {
  deltaOnly:
    'update without fullDocument, its row is left as it was (capture with fullDocument: "updateLookup")',
  unknownOperation: 'operation that is not known here, left out',
};
