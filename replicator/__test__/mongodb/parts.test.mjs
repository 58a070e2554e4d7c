// The parts of the live source that need no server.
import { EJSON, Int32, Long, ObjectId, serialize, Timestamp } from 'bson';
import { describe, expect, test, vi } from 'vitest';
import { isMongoAddress, parseAddress } from '../../lib/source/mongodb/address.mjs';
import { BatchSize } from '../../lib/source/mongodb/batch-size.mjs';
import { Connection } from '../../lib/source/mongodb/connection.mjs';
import { findCursorId } from '../../lib/source/mongodb/cursor-id.mjs';
import { meaningOf } from '../../lib/source/mongodb/errors.mjs';
import { Position } from '../../lib/source/mongodb/position.mjs';
import { LiveProgress } from '../../lib/source/mongodb/progress.mjs';
import { Recorder } from '../../lib/source/mongodb/recorder.mjs';
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

describe('the id of a cursor that cannot be converted', () => {
  const cursor = (fields) => Buffer.from(serialize(fields));
  const id = Long.fromString('9007199254740993');
  const found = { id: 9007199254740993n, ns: 'shop.items' };
  const reply = cursor({ firstBatch: [{ _id: 1, text: 'x' }], id, ns: 'shop.items' });

  test('is found in any order, whatever the batch holds', () => {
    expect(findCursorId(reply)).toEqual(found);
    expect(findCursorId(cursor({ ns: 'shop.items', id, firstBatch: [] }))).toEqual(found);
    const damaged = Buffer.from(reply);
    damaged.writeInt32LE(100_000, reply.indexOf('firstBatch') + 18);
    expect(findCursorId(damaged)).toEqual(found);
  });

  test('is not made up: cut anywhere, or changed anywhere, it is the same or none', () => {
    for (let length = 0; length < reply.length - 1; length += 1) {
      const result = findCursorId(reply.subarray(0, length));
      if (result !== null) expect(result).toEqual(found);
    }
    // Up to the id, whose own bytes may be any.
    for (let at = 0; at < reply.indexOf('id\0'); at += 1) {
      const changed = Buffer.from(reply);
      changed[at] ^= 0x80;
      const result = findCursorId(changed);
      if (result !== null) expect(result).toEqual(found);
    }
  });
});

describe('progress', () => {
  /** What is written, as two seconds go by with each step. */
  function show(isTTY, steps) {
    vi.useFakeTimers({ toFake: ['performance', 'Date'], now: 1_700_000_100_000 });
    try {
      const written = [];
      const progress = new LiveProgress({ isTTY, write: (text) => written.push(text) });
      for (const [documents, time] of steps) {
        vi.advanceTimersByTime(2000);
        progress.show('change stream', { documents, bytes: documents * 1024 * 1024 }, time);
      }
      progress.stop();
      return written;
    } finally {
      vi.useRealTimers();
    }
  }
  const at = (t) => new Timestamp({ t, i: 1 });
  const steps = [
    [1, null],
    [2, at(1_700_000_100)],
    [3, at(1_700_000_101)],
    [3, at(1_700_000_101)],
    [3, at(1_700_000_101)],
    [3, at(1_700_000_101)],
    [4, at(1_700_000_110)],
  ];

  test('elsewhere than on a terminal: a line every five seconds, where something has changed', () => {
    expect(show(false, steps)).toEqual([
      'change stream: 3 documents, 3.0 MiB, 5 s behind\n',
      'change stream: 4 documents, 4.0 MiB, 4 s behind\n',
    ]);
  });

  test('on a terminal: one line, which is gone at the end', () => {
    expect(show(true, steps)).toEqual([
      '\r\u001b[Kchange stream: 1 documents, 1.0 MiB',
      '\r\u001b[Kchange stream: 2 documents, 2.0 MiB, 4 s behind',
      '\r\u001b[Kchange stream: 3 documents, 3.0 MiB, 5 s behind',
      '\r\u001b[Kchange stream: 4 documents, 4.0 MiB, 4 s behind',
      '\r\u001b[K',
    ]);
  });
});

test('what is handed over is stored while more is taken', async () => {
  const finish = [];
  const applied = [];
  const sink = {
    apply: async (changes, { position }) => {
      await new Promise((resolve) => finish.push(resolve));
      applied.push([changes.map(({ operation }) => operation), JSON.parse(position).start.resumeAfter._data]);
    },
  };
  const names = { source: 's', shown: 'shown' };
  const limits = { rows: 1, bytes: 1000, milliseconds: 1000 };
  const recorder = new Recorder(sink, names, { EJSON }, { limits, limit: Infinity, onError: 'stop' });
  const position = new Position({ start: {} });
  const change = (operation) => ({ kind: 'put', operation, namespace: 'a.b', key: Buffer.of(1), row: {} });
  recorder.take(change('insert'), null, null, position.afterEvent({ _data: '1' }), 10);
  await recorder.handOver();
  expect(applied).toEqual([]);
  recorder.take(change('update'), null, null, position.afterEvent({ _data: '2' }), 10);
  const end = recorder.store();
  finish[0]();
  await vi.waitFor(() => expect(finish).toHaveLength(2));
  finish[1]();
  await end;
  expect(applied).toEqual([
    [['insert'], '1'],
    [['update'], '2'],
  ]);
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
