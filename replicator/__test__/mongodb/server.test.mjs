// The whole way against servers that nobody here wrote: the in-memory server mongo-java-server, and whatever
// MONGODB_URI names (a replica set; with authSource, if it wants a password; a database of the test's own is made
// there and dropped). What the replica must
// hold is read through the driver, and turned into rows by the plain type table of the tests.

import { join } from 'node:path';
import {
  Binary,
  Decimal128,
  Double,
  EJSON,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'bson';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectedRow, parse } from '../support/expected.mjs';
import { DRIVERS, replicateLive } from '../support/live.mjs';
import { makeFolder, readReplica, sortRows } from '../support/replica.mjs';
import { javaServerMissing, startJavaServer } from '../support/servers/java-server.mjs';

const folder = makeFolder();
let files = 0;
const DATABASE = `bsonrow_test_${process.pid}`;

const JAVA = {
  name: 'mongo-java-server',
  missing: javaServerMissing,
  start: startJavaServer,
  // Its change streams watch one collection, have no names, no split events and no token of a reply's own; and an
  // update by operators does not name its document.
  hasWholeStreams: false,
};
const REAL = {
  name: 'MONGODB_URI',
  missing: process.env.MONGODB_URI === undefined ? 'MONGODB_URI is not set' : undefined,
  start: async () => ({ uri: process.env.MONGODB_URI, stop: async () => {} }),
  hasWholeStreams: true,
};

const IDS = [
  new Int32(1),
  new Double(2.5),
  Long.fromString('9007199254740993'),
  Decimal128.fromString('3.25'),
  '',
  'a',
  'ä',
  { x: new Int32(1) },
  { x: 'y' },
  new Binary(Buffer.from('abc')),
  new UUID('0f1c3a52-6f3e-4a8c-9b7e-2f4d5c6b7a80'),
  new ObjectId('665757409d2c67eda13ffe79'),
  new ObjectId('6657574a9d2c67eda13ffe7a'),
  false,
  true,
  new Date(0),
  new Date(1.7e12),
  new Timestamp({ t: 5, i: 1 }),
  new MinKey(),
  new MaxKey(),
];

for (const { missing, name } of [JAVA, REAL])
  if (missing) console.warn(`Tests against ${name} are skipped: ${missing}.`);

describe.each(DRIVERS)('with %s', (_name, driver) => {
  describe.each([JAVA, REAL])('on $name', ({ missing, start, hasWholeStreams }) => {
    describe.skipIf(missing)('rows', () => {
      let server;
      let client;
      let db;
      beforeAll(async () => {
        server = await start();
        client = new driver.MongoClient(server.uri);
        db = client.db(DATABASE);
        await db.dropDatabase();
      });
      afterAll(async () => {
        await db?.dropDatabase();
        await client?.close();
        await server?.stop();
      });

      /** Documents of the test's bson, as the driver at hand takes them. */
      const native = (document) =>
        driver.BSON.EJSON.parse(EJSON.stringify(document, { relaxed: false }), { relaxed: false });

      /** What the collection holds now, read by the driver as BSON. */
      async function truthOf(name) {
        const documents = await db.collection(name).find({}, { raw: true }).toArray();
        return sortRows(documents.map((bytes) => expectedRow(parse(bytes))));
      }

      /** Of the test's database. */
      const address = () =>
        server.uri.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${DATABASE}`);

      /** Replicates one collection. */
      function replicateOne(name, file, ...more) {
        return replicateLive(
          driver,
          address(),
          '--into',
          file,
          '--collection',
          `${DATABASE}.${name}`,
          ...more,
        );
      }

      /** The same with its changes: by all that the server can, else by what it can. */
      function replicate(name, file, ...more) {
        // Before anything the test does; what is applied twice so ends the same.
        const begin = ['--watch', 'collection', '--start-at', String(Math.floor(Date.now() / 1000) - 3600)];
        return replicateOne(name, file, ...(hasWholeStreams ? [] : begin), ...more);
      }

      function nextFile() {
        files += 1;
        return join(folder, `${files}.sqlite`);
      }
      const rowsOf = (file, name) => sortRows(readReplica(file).get(`${DATABASE}.${name}`) ?? []);

      test('a snapshot, in pieces of any size, of _ids of every type', async () => {
        const collection = db.collection('types');
        for (const _id of IDS) await collection.insertOne({ _id: native({ _id })._id, n: IDS.indexOf(_id) });
        const truth = await truthOf('types');
        expect(truth).toHaveLength(IDS.length);
        for (const size of [1, 3, 1000]) {
          const file = nextFile();
          const { code } = await replicateOne('types', file, '--snapshot', 'only', '--batch-size', size);
          expect(code).toBe(0);
          expect(rowsOf(file, 'types')).toEqual(truth);
        }
      });

      test('a snapshot that begins anew behind each _id loses none', async () => {
        const file = nextFile();
        for (let run = 0; run < IDS.length; run += 1) {
          await replicateOne('types', file, '--snapshot', 'only', '--limit', 1);
          expect(rowsOf(file, 'types')).toHaveLength(run + 1);
        }
        expect(rowsOf(file, 'types')).toEqual(await truthOf('types'));
      });

      test('changes after the snapshot, over several runs', async () => {
        const collection = db.collection('changes');
        await collection.insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: n, text: `first ${n}` })));
        const file = nextFile();
        expect((await replicate('changes', file, '--batch-size', 7)).code).toBe(0);
        expect(rowsOf(file, 'changes')).toEqual(await truthOf('changes'));
        for (let run = 0; run < 3; run += 1) {
          for (let n = run; n < 50; n += 7) {
            await collection.replaceOne(
              { _id: n },
              { _id: n, text: `run ${run}`, list: [1, { a: n }] },
              { upsert: true },
            );
          }
          await collection.deleteMany({ _id: { $in: [run * 3, run * 3 + 1] } });
          await collection.insertOne({ _id: 100 + run, when: new Date(run) });
          if (hasWholeStreams)
            await collection.updateMany({ _id: { $gt: 30 } }, { $set: { more: run }, $unset: { text: 1 } });
          expect((await replicate('changes', file, '--batch-size', 5)).code).toBe(0);
          expect(rowsOf(file, 'changes')).toEqual(await truthOf('changes'));
        }
      });

      test('changes while a run goes on, the snapshot included', async () => {
        const collection = db.collection('busy');
        await collection.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: n, text: 'x'.repeat(n) })));
        const file = nextFile();
        const running = replicate('busy', file, '--batch-size', 10, '--until-caught-up', '1');
        for (let n = 0; n < 100; n += 1) {
          await collection.replaceOne({ _id: n * 3 }, { _id: n * 3, text: `changed ${n}` });
          await collection.deleteOne({ _id: n * 3 + 1 });
          await collection.insertOne({ _id: 1000 + n, text: 'new' });
        }
        expect((await running).code).toBe(0);
        expect(rowsOf(file, 'busy')).toEqual(await truthOf('busy'));
      });

      test('a collection that is dropped', async () => {
        const collection = db.collection('dropped');
        await collection.insertOne({ _id: 1 });
        const file = nextFile();
        await replicate('dropped', file);
        expect(rowsOf(file, 'dropped')).toHaveLength(1);
        await collection.drop();
        expect((await replicate('dropped', file)).code).toBe(0);
        expect(rowsOf(file, 'dropped')).toEqual([]);
      });

      test.skipIf(!hasWholeStreams)('the whole database, renames among the changes', async () => {
        const file = nextFile();
        const args = [address(), '--into', file];
        await db.collection('old').insertMany([{ _id: 1 }, { _id: 2 }]);
        expect((await replicateLive(driver, ...args)).code).toBe(0);
        await db.collection('old').rename('new');
        await db.collection('new').insertOne({ _id: 3 });
        expect((await replicateLive(driver, ...args)).code).toBe(0);
        expect(rowsOf(file, 'old')).toEqual([]);
        expect(rowsOf(file, 'new')).toEqual(await truthOf('new'));
      });
    });
  });
});
