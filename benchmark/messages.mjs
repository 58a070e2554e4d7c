// How contenders make MessagePack of the same rows, and how it is read again.
import { addExtension, Packr, unpack } from 'msgpackr';
import { fromMessagePackTable, messagePackExtensions } from '../index.js';
import { bson } from './peer/index.mjs';

for (const { type, decode } of messagePackExtensions({ bson })) addExtension({ type, unpack: decode });

const { type: objectIdType } = messagePackExtensions({ bson }).find(
  ({ decode }) => decode(new Uint8Array(12)) instanceof bson.ObjectId,
);
// msgpackr packs an ObjectId in the same bytes.
addExtension({
  Class: bson.ObjectId,
  type: objectIdType,
  pack: ({ id }) => id,
  unpack: (bytes) => new bson.ObjectId(Buffer.from(bytes)),
});

/** Maps, in the shortest formats. */
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** What `make` gives for a reply, made once. */
function once(make) {
  const made = new WeakMap();
  return (reply) => {
    if (!made.has(reply)) made.set(reply, make(reply));
    return made.get(reply);
  };
}

/** A `find` reply to what `convertBatch` makes of it, its rows by `rowOf`. */
const batchBy = (rowOf) => (reply) => {
  const { firstBatch, ...fields } = bson.deserialize(reply, { raw: true, useBigInt64: true });
  return { ...fields, byteLength: reply.length, documents: firstBatch.map(rowOf) };
};

/** Rows made by `rowOf` and packed. */
export const packed = (rowOf) => {
  const convert = batchBy(rowOf);
  return (reply) => packr.pack(convert(reply));
};

/** Rows that were made before, packed. */
export const packedAlone = (rowOf) => {
  const convert = once(batchBy(rowOf));
  return (reply) => packr.pack(convert(reply));
};

/** Messages of the addon. */
export const written = (converter, layout) => (reply) =>
  converter.toMessagePack(reply, { of: 'batch', layout });

/** What a message in maps says, and in how many bytes. */
export const readMaps = (message) => ({ batch: unpack(message), bytes: message.length });

/** What a message in any layout says. */
export function readRows(message) {
  const { documents, ...fields } = unpack(message);
  return { ...fields, documents: 'names' in documents[0] ? fromMessagePackTable(documents) : documents };
}
