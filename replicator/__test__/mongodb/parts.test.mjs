// The parts of the live source that need no server.
import { EJSON, Int32, Long, ObjectId, Timestamp } from 'bson';
import { describe, expect, test } from 'vitest';
import { isMongoAddress, parseAddress } from '../../lib/source/mongodb/address.mjs';
import { BatchSize } from '../../lib/source/mongodb/batch-size.mjs';
import { Connection } from '../../lib/source/mongodb/connection.mjs';
import { meaningOf } from '../../lib/source/mongodb/errors.mjs';
import { Position } from '../../lib/source/mongodb/position.mjs';
import { selectCollections } from '../../lib/source/mongodb/selection.mjs';

describe('addresses', () => {
  test.each([
    ['mongodb://host/shop', 'mongodb://host/shop', 'shop', []],
    ['mongodb://host', 'mongodb://host', null, []],
    ['mongodb://host/?replicaSet=rs0', 'mongodb://host', null, ['replicaset']],
    [
      'mongodb://user:p%40ss@b:2,a:1/shop?tls=true&appName=x',
      'mongodb://a:1,b:2/shop',
      'shop',
      ['tls', 'appname'],
    ],
    [
      'mongodb+srv://user:p@ss@cluster.example/my%20shop',
      'mongodb+srv://cluster.example/my shop',
      'my shop',
      [],
    ],
    ['mongodb://[::1]:27017/shop', 'mongodb://[::1]:27017/shop', 'shop', []],
  ])('%s', (uri, shown, database, options) => {
    expect(isMongoAddress(uri)).toBe(true);
    expect(parseAddress(uri)).toEqual({ uri, shown, database, options: new Set(options) });
  });

  test.each(['dump/', 'mongodb.bson', './mongodb:', 'postgres://host/db'])('%s is none', (text) => {
    expect(isMongoAddress(text)).toBe(false);
  });
});

test.each([
  [
    'mongodb://h/shop',
    { appName: 'bsonrow-replicate', socketTimeoutMS: 120_000, serverSelectionTimeoutMS: 5_000 },
  ],
  ['mongodb://h/shop?appname=mine&socketTimeoutMS=1', { serverSelectionTimeoutMS: 5_000 }],
  ['mongodb://h/shop?ServerSelectionTimeoutMS=9', { appName: 'bsonrow-replicate', socketTimeoutMS: 120_000 }],
])('%s: what the address does not set is set', (uri, expected) => {
  const given = [];
  class MongoClient {
    constructor(...args) {
      given.push(args);
    }

    startSession() {}
  }
  new Connection({ MongoClient }, parseAddress(uri));
  expect(given).toEqual([[uri, expected]]);
});

test('the size of replies: halved at once, doubled after eight good ones, never beyond its bounds', () => {
  const size = new BatchSize(10);
  size.succeeded();
  expect(size.current).toBe(10);
  expect([size.halve(), size.current]).toEqual([true, 5]);
  expect([size.halve(), size.current]).toEqual([true, 2]);
  expect([size.halve(), size.current]).toEqual([true, 1]);
  expect([size.halve(), size.current]).toEqual([false, 1]);
  const seen = [];
  for (let n = 0; n < 40; n += 1) {
    size.succeeded();
    if (seen.at(-1) !== size.current) seen.push(size.current);
  }
  expect(seen).toEqual([1, 2, 4, 8, 10]);
});

test('the size of replies: no more documents than fill 4 MiB', () => {
  const size = new BatchSize(1000);
  size.received(16 * 1024 * 1024, 160);
  expect(size.current).toBe(40);
  size.received(1, 0);
  expect(size.current).toBe(40);
  expect([size.halve(), size.current]).toEqual([true, 20]);
  size.received(16 * 1024 * 1024, 1);
  expect([size.current, size.halve()]).toEqual([1, false]);
});

describe('positions', () => {
  const bson = { EJSON };
  const restored = (position) => Position.parse(position.toText(bson), bson);

  test.each([
    [new ObjectId()],
    [new Int32(5)],
    [Long.fromString('9007199254740993')],
    ['text'],
    [{ b: new Int32(1), a: null }],
    [true],
    [new Date(5)],
  ])('a last _id %j comes back as it was', (id) => {
    const position = new Position({ start: {}, pending: ['a.b', 'c.d'] }).afterDocument(id);
    expect(restored(position)).toEqual(position);
  });

  test('each step', () => {
    const time = new Timestamp({ t: 7, i: 1 });
    const begun = new Position({ start: { startAtOperationTime: time }, pending: ['a.b', 'c.d'] });
    const next = begun.afterDocument('x').afterCollection();
    expect([next.pending, next.last]).toEqual([['c.d'], null]);
    const streaming = next.afterCollection().afterSnapshots(time).afterEvent({ _data: '8' });
    expect({ ...streaming }).toEqual({
      start: { resumeAfter: { _data: '8' } },
      pending: [],
      last: null,
      snapshotEnd: time,
    });
    expect(streaming.afterStream({ _data: '9' }).start).toEqual({ startAfter: { _data: '9' } });
    expect(restored(streaming)).toEqual(streaming);
    expect(begun.pending).toEqual(['a.b', 'c.d']);
  });
});

describe('selections', () => {
  test.each([
    [[], 'shop', [], ['shop'], 'database'],
    [['shop.a', 'shop.b', 'shop.a'], null, ['shop.a', 'shop.b'], [], 'database'],
    [['shop.a', 'shop.*'], null, [], ['shop'], 'database'],
    [['shop.a.b', 'crm.*'], 'shop', ['shop.a.b'], ['crm'], 'cluster'],
  ])('%j of %s', (patterns, database, namespaces, databases, watch) => {
    expect(selectCollections(patterns, database, 'auto')).toMatchObject({ namespaces, databases, watch });
  });

  test('collections of the system are never meant', () => {
    const { isSelected } = selectCollections([], 'shop', 'auto');
    expect(['shop.a', 'shop.a.system.b', 'shop.system.views', 'crm.a'].map(isSelected)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('errors', () => {
  const driverError = (name, fields = {}, labels = []) =>
    Object.assign(new Error('x'), { name, ...fields, hasErrorLabel: (label) => labels.includes(label) });

  test.each([
    [driverError('MongoServerError', { code: 50 }), 'timeout'],
    [driverError('MongoNetworkTimeoutError'), 'timeout'],
    [driverError('MongoServerError', { code: 10334 }), 'tooLarge'],
    [driverError('MongoNetworkError', {}, ['ResumableChangeStreamError']), 'lost'],
    [driverError('MongoServerSelectionError'), 'lost'],
    [driverError('MongoServerSelectionError', { cause: driverError('MongoCompatibilityError') }), 'other'],
    [driverError('MongoServerError', { code: 43 }), 'interrupted'],
    [driverError('MongoServerError', { code: 999 }, ['ResumableChangeStreamError']), 'interrupted'],
    [driverError('MongoServerError', { code: 286 }, ['ResumableChangeStreamError']), 'history'],
    [driverError('MongoServerError', { code: 18 }), 'other'],
    [driverError('BSONError'), 'malformed'],
    [Object.assign(new Error('x'), { code: 'BSONROW_LENGTH' }), 'malformed'],
    [new TypeError('x'), 'other'],
  ])('%o', (error, meaning) => {
    expect(meaningOf(error)).toBe(meaning);
  });
});
