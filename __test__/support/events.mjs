/** Change events of the data folder, and arbitraries that make others. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { anyValue, columns } from './arbitrary.mjs';
import { document, element, int, payload, string, Type } from './bson-bytes.mjs';
import { listFiles, readBytes, readJson, splitDocuments } from './data.mjs';

const bson = createRequire(import.meta.url)('bson');

/** Extended JSON, parsed but with its type wrappers, to BSON. */
export const toBson = (json) =>
  Buffer.from(bson.serialize(bson.EJSON.parse(JSON.stringify(json), { relaxed: false })));

/** The events of the data, one by one: those of JSON files, of BSON files, and those inside replies. */
export function dataEvents() {
  const json = listFiles('events', '.json').flatMap((name) => {
    const events = [readJson(name)]
      .flat()
      .flatMap((each) => each.cursor?.firstBatch ?? each.cursor?.nextBatch ?? [each]);
    return events.map((event, index) => ({ label: `${name}#${index}`, bytes: toBson(event) }));
  });
  const files = listFiles('events', '.bson', '.bson.gz').flatMap((name) =>
    splitDocuments(readBytes(name)).documents.map((bytes, index) => ({
      label: `${name}#${index}`,
      bytes: Buffer.from(bytes),
    })),
  );
  return [...json, ...files];
}

const ofType = (name, arbitrary) => arbitrary.map(([type, bytes]) => element(type, name, bytes));
const documentOf = (parts) => [Type.DOCUMENT, document(parts)];

/** A document with an `_id` of any type among its elements. */
export const documentWithId = fc.tuple(anyValue, columns, fc.nat()).map(([[type, bytes], rest, at]) => {
  const index = at % (rest.length + 1);
  return document([...rest.slice(0, index), element(type, '_id', bytes), ...rest.slice(index)]);
});

/** Something other than a document, where one is usual. */
const noDocument = anyValue.filter(([type]) => type !== Type.DOCUMENT);

const key = fc
  .tuple(
    anyValue,
    fc.array(fc.tuple(fc.constantFrom('region', 'a.b', 'x', '$y'), anyValue), { maxLength: 2 }),
  )
  .map(([[type, bytes], shardKeys]) => {
    const unique = new Map(
      shardKeys.map(([name, [keyType, value]]) => [name, element(keyType, name, value)]),
    );
    return documentOf([...unique.values(), element(type, '_id', bytes)]);
  });

const fullDocument = fc.oneof(
  { weight: 6, arbitrary: documentWithId.map((bytes) => [Type.DOCUMENT, bytes]) },
  { weight: 1, arbitrary: fc.constant([Type.NULL, Buffer.alloc(0)]) },
  { weight: 1, arbitrary: noDocument },
);

const FIELDS = {
  _id: fc.oneof(fc.constant(documentOf([string('_data', '8265')])), anyValue),
  operationType: fc
    .constantFrom('insert', 'update', 'delete', 'replace', 'drop', 'someDay')
    .map((text) => [Type.STRING, payload.string(text)]),
  clusterTime: fc.oneof(fc.constant([Type.TIMESTAMP, payload.timestamp(7, 1)]), anyValue),
  wallTime: fc.constant([Type.DATETIME, payload.datetime(1_700_000_000_000)]),
  fullDocument,
  fullDocumentBeforeChange: fullDocument,
  ns: fc.constant(documentOf([string('db', 'shop'), string('coll', 'items')])),
  to: fc.constant(documentOf([string('db', 'shop'), string('coll', 'articles')])),
  documentKey: fc.oneof({ weight: 6, arbitrary: key }, { weight: 1, arbitrary: anyValue }),
  updateDescription: columns.map(documentOf),
  txnNumber: fc.constant([Type.INT64, payload.int64(9)]),
  lsid: anyValue,
  splitEvent: fc.constant(documentOf([int('fragment', 1), int('of', 1)])),
  operationDescription: columns.map(documentOf),
  other: anyValue,
};

/** The elements of an event: some fields, in any order. */
export const eventElements = fc
  .tuple(...Object.entries(FIELDS).map(([name, value]) => fc.option(ofType(name, value), { freq: 4 })))
  .chain((elements) => {
    const present = elements.filter((each) => each !== null);
    return fc.shuffledSubarray(present, { minLength: present.length });
  });
