// Who is compared: for each kind of scenario, how each contender converts one document.
import { bufferToSqlite, NativeSourceRowConverter, parseChangeDocument } from '../index.js';
import { packed, packedAlone, written } from './messages.mjs';
import * as peer from './peer/index.mjs';

/** Dates as `2023-03-06T13:47:00.000Z`, for all contenders. */
const mode = 1;
const context = peer.contextFor(mode);
const deserialize = (bytes) => peer.bson.deserialize(bytes, { useBigInt64: true });

const typescript = new peer.DirectSourceRowConverter(context);
const older = new peer.LegacySourceRowConverter(context);
const addon = new NativeSourceRowConverter(context, { bson: peer.bson });
const addonWith = (options) => new NativeSourceRowConverter(context, { bson: peer.bson, ...options });
const sharing = addonWith({ zeroCopy: true });
const lazy = addonWith({ lazyJson: true });

/** Two of twelve columns, and two paths of which one leads into a nested document. */
const columns = ['email', 'balance'];
const paths = { mail: 'email', city: 'address.city' };
const selecting = addonWith({ columns });
const following = addonWith({ columns: paths });

/**
 * An event to its fields and its rows: by `parse`, which leaves documents as they are to be given to `rowOf`, that after
 * the change, and `columnsOf`, that before it.
 */
const eventConverter = (parse, rowOf, columnsOf) => (event) => {
  const change = parse(event);
  const { fullDocument, fullDocumentBeforeChange } = change;
  return {
    change,
    converted: fullDocument ? rowOf(fullDocument) : undefined,
    before: fullDocumentBeforeChange ? columnsOf(fullDocumentBeforeChange) : undefined,
  };
};

/** A reply to its events, by `splitReply`, and those by `convert`. */
const batchConverter = (splitReply, convert) => (reply) => splitReply(reply).nextBatch.map(convert);

/** As the service does it: the reply's events stay BSON, each a view of it. */
const splitRaw = (reply) => peer.bson.deserialize(reply, { raw: true, useBigInt64: true });

/** The older path deserialises the whole event, its documents included. */
const olderRow = (document) => ({ row: older.documentToSqliteRow(document), replicaId: document._id });
const olderColumns = (document) => older.documentToSqliteRow(document);
const olderEvent = (parse) => eventConverter(parse, olderRow, olderColumns);

/** ObjectIds by hand: the document deserialised, each ObjectId printed. */
function idsByHand(bytes) {
  const { _id, ids } = deserialize(bytes);
  const row = { _id: _id.toHexString() };
  if (ids !== undefined) row.ids = ids.map((id) => id.toHexString());
  return { replicaId: _id, row };
}

/** Without such an option the whole row is made, of which two columns are taken. */
const pickingColumns = (rowOf) => (document) => {
  const { row, replicaId } = rowOf(document);
  return { row: { email: row.email, balance: row.balance }, replicaId };
};
/** And what is nested is parsed. */
const pickingPaths = (rowOf) => (document) => {
  const { row, replicaId } = rowOf(document);
  return { row: { mail: row.email, city: JSON.parse(row.address).city }, replicaId };
};

const typescriptRow = (document) => typescript.rawToSqliteRow(document);
const typescriptColumns = (document) => peer.bufferToSqlite(document, mode);
const typescriptEvent =
  peer.parseChangeDocument && eventConverter(peer.parseChangeDocument, typescriptRow, typescriptColumns);

const addonRow = (document) => addon.rawToSqliteRow(document);
const addonColumns = (document) => bufferToSqlite(document, mode);
const addonParse = (event) => parseChangeDocument(event, { bson: peer.bson });

/**
 * How a contender converts what each kind of scenario has; `change` is an event by the fewest calls, where `event` is
 * by the same calls for all; `sharedRow` is a row whose long strings may stand over the source's memory, `someColumns`
 * and `somePaths` one of two columns, `lazyRow` one whose JSON text nobody reads.
 * @typedef {object} Contender
 * @property {string} title
 * @property {(bytes: Buffer) => any} [row]
 * @property {(bytes: Buffer) => any} [sharedRow]
 * @property {(bytes: Buffer) => any} [someColumns]
 * @property {(bytes: Buffer) => any} [somePaths]
 * @property {(bytes: Buffer) => any} [lazyRow]
 * @property {(bytes: Buffer) => any} [columns]
 * @property {(bytes: Buffer) => any} [event]
 * @property {(bytes: Buffer) => any} [change]
 * @property {(bytes: Buffer) => any} [batch]
 * @property {(bytes: Buffer) => Buffer} [message]
 * @property {(bytes: Buffer) => Buffer} [table]
 */

/** @type {Record<string, Contender>} */
export const contenders = {
  typescript: {
    title: 'TypeScript',
    row: typescriptRow,
    sharedRow: typescriptRow,
    someColumns: pickingColumns(typescriptRow),
    somePaths: pickingPaths(typescriptRow),
    lazyRow: typescriptRow,
    columns: typescriptColumns,
    event: typescriptEvent,
    change: typescriptEvent,
    batch: typescriptEvent && batchConverter(splitRaw, typescriptEvent),
    message: packed(typescriptRow),
    table: packed(typescriptRow),
  },
  older: {
    title: 'bson.deserialize',
    row: (bytes) => older.rawToSqliteRow(bytes),
    sharedRow: (bytes) => older.rawToSqliteRow(bytes),
    someColumns: pickingColumns((bytes) => older.rawToSqliteRow(bytes)),
    somePaths: pickingPaths((bytes) => older.rawToSqliteRow(bytes)),
    lazyRow: (bytes) => older.rawToSqliteRow(bytes),
    columns: (bytes) => olderColumns(deserialize(bytes)),
    event: olderEvent(deserialize),
    change: olderEvent(deserialize),
    batch: batchConverter(
      deserialize,
      olderEvent((event) => event),
    ),
  },
  'js-bson': {
    title: 'js-bson by hand',
    row: idsByHand,
  },
  msgpackr: {
    title: 'msgpackr alone',
    message: packedAlone(typescriptRow),
    table: packedAlone(typescriptRow),
  },
  eager: {
    title: 'bsonrow without lazyJson',
    lazyRow: addonRow,
  },
  bsonrow: {
    title: 'bsonrow',
    row: addonRow,
    sharedRow: (document) => sharing.rawToSqliteRow(document),
    someColumns: (document) => selecting.rawToSqliteRow(document),
    somePaths: (document) => following.rawToSqliteRow(document),
    lazyRow: (document) => lazy.rawToSqliteRow(document),
    columns: addonColumns,
    event: eventConverter(addonParse, addonRow, addonColumns),
    change: (event) => addon.convertChange(event),
    batch: (reply) => addon.convertBatch(reply),
    message: written(addon, 'maps'),
    table: written(addon, 'table'),
  },
};

/** What the TypeScript converter cannot take on every Node.js. */
export const kindsOfEvents = new Set(['event', 'change', 'batch']);

/** Why the TypeScript converter cannot take events on the Node.js that runs, where it cannot. */
export const eventsMissing = peer.parseChangeDocumentMissing;

export const defaultContenders = ['typescript', 'older', 'bsonrow'];
