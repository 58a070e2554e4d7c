// The converters of the snapshot benchmark: each makes rows of the `cursor` document of a reply, in the shape that
// the replicator's reader of cursors wants.
import { NativeSourceRowConverter } from '../index.js';
import * as peer from './peer/index.mjs';

/** Dates as `2023-03-06T13:47:00.000Z`, for all contenders. */
const mode = 1;
const context = peer.contextFor(mode);

/** As the service does it: the documents of the reply stay BSON. */
function splitReply(cursor) {
  const fieldsAsRaw = { firstBatch: true, nextBatch: true };
  const { firstBatch, nextBatch, id, ...reply } = peer.bson.deserialize(cursor, {
    fieldsAsRaw,
    useBigInt64: true,
  });
  return { ...reply, id: BigInt(id), byteLength: cursor.byteLength, documents: firstBatch ?? nextBatch };
}

function typescriptContender() {
  const converter = new peer.DirectSourceRowConverter(context);
  const convertEvent = (event) => {
    const { fullDocument, ...change } = peer.parseChangeDocument(event);
    const { row } = fullDocument ? converter.rawToSqliteRow(fullDocument) : { row: null };
    return { ...change, row, replicaId: change.documentKey?._id };
  };
  return {
    documents(cursor) {
      const { documents, ...reply } = splitReply(cursor);
      return { ...reply, documents: documents.map((document) => converter.rawToSqliteRow(document)) };
    },
    changes(cursor) {
      const { documents, ...reply } = splitReply(cursor);
      return { ...reply, changes: documents.map(convertEvent) };
    },
  };
}

function bsonrowContender() {
  const converter = new NativeSourceRowConverter(context, { bson: peer.bson });
  return {
    documents: (cursor) => converter.convertBatch(cursor, { as: 'documents' }),
    changes: (cursor) => converter.convertBatch(cursor, { as: 'changes' }),
  };
}

/** Nothing is converted: what the driver and the server cost. */
const driverContender = () => ({
  documents: splitReply,
  changes(cursor) {
    const { documents, ...reply } = splitReply(cursor);
    return { ...reply, changes: documents };
  },
});

export const snapshotContenders = {
  driver: { title: 'driver alone', make: driverContender },
  typescript: { title: 'TypeScript', make: typescriptContender },
  bsonrow: { title: 'bsonrow', make: bsonrowContender },
};

/** Why the TypeScript converter cannot take events on the Node.js that runs, where it cannot. */
export const changesMissing = peer.parseChangeDocumentMissing;
