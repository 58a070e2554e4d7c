// One measurement of a scenario of ObjectIds in a process of its own: the times of the contenders, or the memory that
// the results of one take while they are kept.

import { NativeSourceRowConverter } from '../../index.js';
import { measure } from '../measure.mjs';
import * as peer from '../peer/index.mjs';
import { objectIds } from '../scenarios/object-ids.mjs';

/** Results that are kept hold so many ids, about, unless more than so many must be read for them. */
const KEPT_IDS = 200_000;
const READ_IDS = 5_000_000;
/** By then all is compiled. */
const WARM_UP = 20_000;

const { bson } = peer;
const converter = new NativeSourceRowConverter(peer.contextFor(1), { bson });

const converters = {
  'js-bson': (source) => bson.deserialize(source, { useBigInt64: true }),
  bsonrow: (source) => converter.rawToSqliteRow(source),
};

/** What is kept of each result: all of it; its identity; or that when its hexadecimal text was asked for once. */
const keepers = {
  result: (result) => result,
  identity: (result) => result._id ?? result.replicaId,
  printed: (result) => {
    const id = keepers.identity(result);
    id.toHexString();
    return id;
  },
};

const idsOf = (document) => 1 + (bson.deserialize(document).ids?.length ?? 0);

function memory() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heapUsed, arrayBuffers };
}

/**
 * Bytes an id, of the heap and of the buffers beside it.
 * @param {(source: Buffer) => unknown} convert
 * @param {Buffer[]} documents
 * @param {{ read: number, kept: number }} ids of a document, and of what is kept of it
 */
function bytesPerId(convert, documents, ids) {
  const count = Math.ceil(Math.min(KEPT_IDS / ids.kept, READ_IDS / ids.read));
  const kept = new Array(count).fill(undefined);
  for (let index = 0; index < WARM_UP / ids.read; index++) convert(documents[index % documents.length]);
  const before = memory();
  for (let index = 0; index < count; index++) kept[index] = convert(documents[index % documents.length]);
  const after = memory();
  if (kept.includes(undefined)) throw new Error('a result was not kept');
  const all = count * ids.kept;
  return {
    heap: (after.heapUsed - before.heapUsed) / all,
    buffers: (after.arrayBuffers - before.arrayBuffers) / all,
  };
}

/** By what is kept. Texts come last, as what bson keeps them in does not shrink. */
function memoryOf(convert, documents) {
  const read = idsOf(documents[0]);
  const measured = Object.entries(keepers).map(([name, keep]) => {
    const ids = { read, kept: name === 'result' ? read : 1 };
    return [name, bytesPerId((source) => keep(convert(source)), documents, ids)];
  });
  return Object.fromEntries(measured);
}

const timesOf = (documents, options) =>
  measure(
    Object.entries(converters).map(([name, convert]) => ({ id: name, convert })),
    documents,
    { ...options, parts: 1 },
  );

const { id, cacheHexString, contender, ...options } = JSON.parse(process.argv[2]);
bson.ObjectId.cacheHexString = cacheHexString;
const documents = objectIds.find((scenario) => scenario.id === id).documents();
const result =
  contender === undefined ? timesOf(documents, options) : memoryOf(converters[contender], documents);
process.send({ node: process.version, result });
