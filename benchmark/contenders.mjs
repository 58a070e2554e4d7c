// Who is compared: for each kind of scenario, how each contender converts one document.
import { bufferToSqlite, NativeSourceRowConverter, parseChangeDocument } from '../index.js';
import * as peer from './peer/index.mjs';

/** Dates as `2023-03-06T13:47:00.000Z`, for all contenders. */
const mode = 1;
const context = peer.contextFor(mode);
const deserialize = (bytes) => peer.bson.deserialize(bytes, { useBigInt64: true });

const typescript = new peer.DirectSourceRowConverter(context);
const older = new peer.LegacySourceRowConverter(context);
const addon = new NativeSourceRowConverter(context, { bson: peer.bson });

/** An event to its fields and its row, by `parse`, which leaves the document as BSON, and `converter`. */
const eventConverter = (parse, converter) => (event) => {
  const change = parse(event);
  const { fullDocument } = change;
  return { change, converted: fullDocument ? converter.rawToSqliteRow(fullDocument) : undefined };
};

/** The older path deserialises the whole event, the document included. */
function olderEvent(event) {
  const change = deserialize(event);
  const { fullDocument } = change;
  if (!fullDocument) return { change, converted: undefined };
  const row = older.documentToSqliteRow(fullDocument);
  return { change, converted: { row, replicaId: fullDocument._id } };
}

/** An array of ObjectIds by hand: the document deserialised, each ObjectId printed. */
function idsByHand(bytes) {
  const { _id, ids } = deserialize(bytes);
  return { replicaId: _id, row: { _id: _id.toHexString(), ids: ids.map((id) => id.toHexString()) } };
}

/**
 * @typedef {object} Contender
 * @property {string} title
 * @property {(bytes: Buffer) => any} [row]
 * @property {(bytes: Buffer) => any} [columns]
 * @property {(bytes: Buffer) => any} [event]
 */

/** @type {Record<string, Contender>} */
export const contenders = {
  typescript: {
    title: 'TypeScript',
    row: (bytes) => typescript.rawToSqliteRow(bytes),
    columns: (bytes) => peer.bufferToSqlite(bytes, mode),
    event: peer.parseChangeDocument && eventConverter(peer.parseChangeDocument, typescript),
  },
  older: {
    title: 'bson.deserialize',
    row: (bytes) => older.rawToSqliteRow(bytes),
    columns: (bytes) => older.documentToSqliteRow(deserialize(bytes)),
    event: olderEvent,
  },
  'js-bson': {
    title: 'js-bson by hand',
    row: idsByHand,
  },
  bsonrow: {
    title: 'bsonrow',
    row: (bytes) => addon.rawToSqliteRow(bytes),
    columns: (bytes) => bufferToSqlite(bytes, mode),
    event: eventConverter((event) => parseChangeDocument(event, { bson: peer.bson }), addon),
  },
};

/** Why the TypeScript converter cannot take events on the Node.js that runs, where it cannot. */
export const eventsMissing = peer.parseChangeDocumentMissing;

export const defaultContenders = ['typescript', 'older', 'bsonrow'];
