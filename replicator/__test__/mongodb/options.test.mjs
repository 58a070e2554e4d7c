// The options of a live source: which collections, which pipeline, which end; and their wrong uses.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'bson';
import * as driver from 'mongodb';
import { describe, expect, test } from 'vitest';
import { event, put } from '../support/captures.mjs';
import { replicateLive, startReplay } from '../support/live.mjs';
import { makeFolder, readReplica } from '../support/replica.mjs';

const folder = makeFolder();
let files = 0;
function nextFile() {
  files += 1;
  return join(folder, `${files}.sqlite`);
}
const replicate = (...args) => replicateLive(driver, ...args);
const documents = [1, 2].map((_id) => Buffer.from(serialize({ _id })));
const collections = {
  'shop.items': documents,
  'shop.system.views': documents,
  'shop.orders': documents,
  'crm.people': documents,
};
const streamOf = (server) => server.received('aggregate').at(-1);

test('without --collection: all of the database but those of the system', async () => {
  const { uri } = await startReplay({ collections });
  const file = nextFile();
  await replicate(`${uri}/shop`, '--into', file);
  expect([...readReplica(file).keys()]).toEqual(['shop.items', 'shop.orders']);
});

test('one collection', async () => {
  const { server, uri } = await startReplay({ collections });
  const file = nextFile();
  await replicate(`${uri}/shop`, '--into', file, '--collection', 'shop.items');
  expect([...readReplica(file).keys()]).toEqual(['shop.items']);
  const { $db, aggregate, pipeline } = streamOf(server);
  expect([$db, Number(aggregate)]).toEqual(['shop', 1]);
  expect(pipeline[1].$match.$or).toEqual([
    { 'ns.db': 'shop', 'ns.coll': 'items' },
    { 'to.db': 'shop', 'to.coll': 'items' },
    { operationType: 'dropDatabase', 'ns.db': 'shop' },
    { operationType: 'invalidate' },
  ]);
});

test('collections of several databases: the stream of the cluster', async () => {
  const { server, uri } = await startReplay({ collections });
  const file = nextFile();
  await replicate(uri, '--into', file, '--collection', 'shop.items', '--collection', 'crm.*');
  expect([...readReplica(file).keys()]).toEqual(['crm.people', 'shop.items']);
  const { $db, pipeline } = streamOf(server);
  expect($db).toBe('admin');
  expect(pipeline[0].$changeStream.allChangesForCluster).toBe(true);
});

test('--watch collection: the stream of the collection, whose events need no name', async () => {
  const nameless = event('insert', { ns: undefined, documentKey: { _id: 3 }, fullDocument: { _id: 3 } });
  const { server, uri } = await startReplay({ collections, events: [nameless] });
  const file = nextFile();
  const args = ['--collection', 'shop.items', '--watch', 'collection', '--start-at', '1'];
  const { code } = await replicate(uri, '--into', file, ...args);
  expect(code).toBe(0);
  expect(readReplica(file).get('shop.items')).toHaveLength(3);
  const { aggregate, pipeline } = streamOf(server);
  expect(aggregate).toBe('items');
  expect(pipeline.map((stage) => Object.keys(stage)[0])).toEqual([
    '$changeStream',
    '$changeStreamSplitLargeEvent',
  ]);
});

test('--pipeline and --full-document', async () => {
  const { server, uri } = await startReplay();
  const stages = '[{"$match":{"fullDocument.at":{"$gt":{"$date":"2024-01-01T00:00:00Z"}}}}]';
  await replicate(`${uri}/shop`, '--into', nextFile(), '--pipeline', stages, '--full-document', 'required');
  const { pipeline } = streamOf(server);
  expect(pipeline[0].$changeStream.fullDocument).toBe('required');
  expect(pipeline[2]).toEqual({ $match: { 'fullDocument.at': { $gt: new Date('2024-01-01') } } });
});

test('a stage that takes fullDocument away does not remove rows', async () => {
  const update = event('update', { documentKey: { _id: 1 } });
  const { uri } = await startReplay({ collections, events: [update] });
  const file = nextFile();
  const { stdout } = await replicate(`${uri}/shop`, '--into', file, '--start-at', '1');
  expect(readReplica(file).get('shop.items')).toHaveLength(2);
  expect(stdout).toContain('update without fullDocument');
});

test('--snapshot only: no change stream is opened', async () => {
  const { server, uri } = await startReplay({ collections, events: [put({ _id: 3 })] });
  const file = nextFile();
  const { code } = await replicate(`${uri}/shop`, '--into', file, '--snapshot', 'only');
  expect(code).toBe(0);
  expect(server.received('aggregate')).toEqual([]);
  expect(readReplica(file).get('shop.items')).toHaveLength(2);
});

test('--snapshot never: the stream from now on', async () => {
  const { server, uri } = await startReplay({ collections, events: [put({ _id: 3 })] });
  const file = nextFile();
  await replicate(`${uri}/shop`, '--into', file, '--snapshot', 'never');
  expect(server.received('find')).toEqual([]);
  expect(readReplica(file).size).toBe(0);
  server.addEvents(put({ _id: 4 }));
  await replicate(`${uri}/shop`, '--into', file, '--snapshot', 'never');
  expect(readReplica(file).get('shop.items')).toEqual([{ _id: 4n }]);
});

test('another request does not go on where the first ended', async () => {
  const { server, uri } = await startReplay({ collections });
  const file = nextFile();
  await replicate(`${uri}/shop`, '--into', file, '--collection', 'shop.items');
  server.commands.length = 0;
  await replicate(`${uri}/shop`, '--into', file);
  expect(server.received('find').map(({ find }) => find)).toEqual(['items', 'orders']);
});

test('--dry-run stores nothing, --fresh begins anew', async () => {
  const { server, uri } = await startReplay({ collections });
  const file = nextFile();
  const { stdout } = await replicate(`${uri}/shop`, '--into', file, '--dry-run');
  expect(stdout).toContain('Read: 4 documents');
  expect(existsSync(file)).toBe(false);
  await replicate(`${uri}/shop`, '--into', file);
  server.commands.length = 0;
  await replicate(`${uri}/shop`, '--into', file, '--fresh');
  expect(server.received('find')).toHaveLength(2);
});

test.each([
  ['a stream and a snapshot', []],
  ['a snapshot of a collection that is named', ['--snapshot', 'only', '-c', 'shop.items']],
  ['a stream from a time that is named', ['--snapshot', 'never', '--start-at', '1']],
])('--fresh drops nothing while no server answers: %s', async (_what, args) => {
  const { uri } = await startReplay({ collections });
  const file = nextFile();
  await replicate(`${uri}/shop`, '--into', file);
  const before = readReplica(file);
  expect(before.size).toBe(2);
  const nobody = 'mongodb://127.0.0.1:1/shop?serverSelectionTimeoutMS=100';
  const { code } = await replicate(nobody, '--into', file, '--fresh', '--retries', '0', ...args);
  expect(code).toBe(3);
  expect(readReplica(file)).toEqual(before);
});

test('a database without collections: says so, and follows', async () => {
  const { uri } = await startReplay({ collections, events: [] });
  const { code, stderr } = await replicate(`${uri}/shopp`, '--into', nextFile());
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^bsonrow-replicate: warning: mongodb:\/\/.*\/shopp has no collection to replicate yet\n$/,
  );
});

describe('wrong usage: exit code 2, and nothing is made', () => {
  test.each([
    [['mongodb://127.0.0.1:1'], /name a database/],
    [['mongodb://'], /not a connection string/],
    [['mongodb://127.0.0.1:1/a?nonsense=1'], /nonsense/],
    [['mongodb://127.0.0.1:1/a', 'dump/'], /one address and no files/],
    [['mongodb://127.0.0.1:1/a', '--follow', '--until-caught-up'], /choose one/],
    [
      ['mongodb://127.0.0.1:1/a', '--snapshot', 'only', '--start-at', '9'],
      /--start-at is for a change stream/,
    ],
    [['mongodb://127.0.0.1:1/a', '--watch', 'collection'], /--watch collection needs one/],
    [['mongodb://127.0.0.1:1', '-c', 'a.b', '-c', 'c.d', '--watch', 'database'], /several databases/],
    [['mongodb://127.0.0.1:1/a', '--pipeline', '{'], /not extended JSON/],
    [['mongodb://127.0.0.1:1/a', '--pipeline', '{"$match":{}}'], /must be an array/],
    [['mongodb://127.0.0.1:1/a', '--start-at', 'yesterday'], /seconds/],
    [['mongodb://127.0.0.1:1/a', '--until-caught-up', '-1'], /above 0/],
    [['mongodb://127.0.0.1:1/a', '--full-document', 'default'], /Allowed choices/],
  ])('%j', async (args, message) => {
    const file = nextFile();
    const { code, stderr } = await replicate(...args, '--into', file);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });

  test('a password is never shown', async () => {
    const { stderr } = await replicate(
      'mongodb://user:secret@127.0.0.1:1/a?serverSelectionTimeoutMS=50',
      '--retries',
      1,
      '--into',
      nextFile(),
    );
    expect(stderr).toContain('mongodb://127.0.0.1:1/a');
    expect(stderr).not.toContain('secret');
  });
});
