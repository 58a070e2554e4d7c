/**
 * What a whole change event has to come to: the three calls that a replicator makes for it otherwise, put together
 * into one object.
 */
import { bufferToSqlite, parseChangeDocument, parseDocumentId } from '../../index.js';

const ROW_NAMES = new Map([
  ['fullDocument', 'row'],
  ['fullDocumentBeforeChange', 'rowBefore'],
]);

/** `null`, or a document, which `parseChangeDocument` leaves as a Buffer. */
const isDocumentOrNull = (value) => value === null || Buffer.isBuffer(value);

/**
 * @param {Uint8Array} event
 * @param {{ bson: object, mode?: number, updateDescription?: boolean }} options
 * @throws what any of the steps throws
 */
export function threeSteps(event, { bson, mode = 0, updateDescription = false }) {
  const parsed = parseChangeDocument(event, { bson });
  const change = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (name === 'updateDescription' && !updateDescription) continue;
    const rowName = isDocumentOrNull(value) ? ROW_NAMES.get(name) : undefined;
    if (rowName === undefined) define(change, name, value);
    else define(change, rowName, value && bufferToSqlite(value, mode));
  }
  if (!Object.hasOwn(change, 'row')) change.row = null;
  change.replicaId = replicaId(parsed, bson);
  return change;
}

/** As a plain own property, whatever its name. */
function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

const isPlain = (value) => typeof value === 'object' && value !== null && value._bsontype === undefined;

function replicaId({ documentKey, fullDocument }, bson) {
  if (isPlain(documentKey) && Object.hasOwn(documentKey, '_id')) return documentKey._id;
  if (!Buffer.isBuffer(fullDocument)) return undefined;
  return parseDocumentId(fullDocument, { bson }).id;
}
