// What each kind of change event does to the tables.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Double, Int32, Long } from 'bson';
import { describe, expect, test } from 'vitest';
import { event, put, remove, writeBson } from './support/captures.mjs';
import { makeFolder, query, readReplica, replicate } from './support/replica.mjs';

const folder = makeFolder();
let files = 0;

/** Replicates events into a new file, or one that is given. */
async function apply(events, { into = null, args = [] } = {}) {
  files += 1;
  const database = into ?? join(folder, `${files}.sqlite`);
  const capture = writeBson(folder, `${files}.bson`, events);
  const result = await replicate(capture, '--into', database, ...args);
  return { ...result, database, replica: readReplica(database) };
}

const one = (coll) => ({ db: 'shop', coll });

test('insert, update and replace store the whole document; delete takes it away', async () => {
  const { replica, code } = await apply([
    put({ _id: 'a', n: 1, old: true }),
    put({ _id: 'b', n: 1 }),
    put({ _id: 'a', n: 2 }, { operation: 'update' }),
    put({ _id: 'c', n: 1 }, { operation: 'replace' }),
    remove('b'),
    remove('never seen'),
  ]);
  expect(code).toBe(0);
  expect(replica.get('shop.items')).toEqual([
    { _id: 'a', n: 2n },
    { _id: 'c', n: 1n },
  ]);
});

test('an update whose document is gone removes the row', async () => {
  const gone = event('update', { documentKey: { _id: 1 }, fullDocument: null, updateDescription: {} });
  const { replica, code } = await apply([put({ _id: 1 }), put({ _id: 2 }), gone, remove(1)]);
  expect(code).toBe(0);
  expect(replica.get('shop.items')).toEqual([{ _id: 2n }]);
});

test('an update without document leaves its row, and is reported', async () => {
  const delta = event('update', { documentKey: { _id: 1 }, updateDescription: { updatedFields: { n: 2 } } });
  const { replica, code, stdout } = await apply([put({ _id: 1, n: 1 }), delta, delta]);
  expect(code).toBe(0);
  expect(replica.get('shop.items')).toEqual([{ _id: 1n, n: 1n }]);
  expect(stdout).toMatch(/2 × update without fullDocument.*first: update at .*: byte \d+/);
});

test('the fields of a shard key are no part of the key', async () => {
  const sharded = event('insert', {
    documentKey: { tenant: 't', _id: 1 },
    fullDocument: { _id: 1, tenant: 't' },
  });
  const { replica } = await apply([sharded, event('delete', { documentKey: { tenant: 't', _id: 1 } })]);
  expect(replica.get('shop.items')).toEqual([]);
});

test('identities of different types are different rows, a number is its value', async () => {
  const { replica } = await apply([
    put({ _id: new Int32(1), was: 'int32' }),
    put({ _id: '1', was: 'string' }),
    put({ _id: Long.fromNumber(1), was: 'int64' }, { operation: 'replace' }),
    put({ _id: new Double(2), was: 'double' }),
    remove(new Int32(2)),
  ]);
  expect(replica.get('shop.items')).toEqual([
    { _id: 1n, was: 'int64' },
    { _id: '1', was: 'string' },
  ]);
});

describe('collections', () => {
  test('drop and dropDatabase', async () => {
    const { replica, database } = await apply([
      put({ _id: 1 }, { ns: one('a') }),
      put({ _id: 1 }, { ns: one('b') }),
      put({ _id: 1 }, { ns: { db: 'shop2', coll: 'a' } }),
      put({ _id: 1 }, { ns: { db: 'gone', coll: 'a' } }),
      event('drop', { ns: one('a') }),
      event('drop', { ns: one('never seen') }),
      event('dropDatabase', { ns: { db: 'gone' } }),
    ]);
    expect([...replica.keys()]).toEqual(['shop.b', 'shop2.a']);
    expect(
      query(database, "SELECT name FROM sqlite_master WHERE name LIKE '%.%' AND type = 'table'"),
    ).toEqual([['shop.b'], ['shop2.a']]);
  });

  test('a collection that comes back after its drop begins anew', async () => {
    const { replica } = await apply([
      put({ _id: 1, A: 1, a: 2 }),
      event('drop'),
      put({ _id: 2, a: 3 }),
      remove(2),
      put({ _id: 3, a: 4 }),
    ]);
    expect(replica.get('shop.items')).toEqual([{ _id: 3n, a: 4n }]);
  });

  test('rename keeps rows and columns, and takes the place of its target', async () => {
    const { replica } = await apply([
      put({ _id: 1, a: 1, A: 2 }, { ns: one('from') }),
      put({ _id: 9 }, { ns: one('to') }),
      event('rename', { ns: one('from'), to: one('to') }),
      put({ _id: 2, A: 3 }, { ns: one('to') }),
      put({ _id: 3 }, { ns: one('from') }),
    ]);
    expect(replica).toEqual(
      new Map([
        ['shop.from', [{ _id: 3n }]],
        [
          'shop.to',
          [
            { _id: 1n, a: 1n, A: 2n },
            { _id: 2n, A: 3n },
          ],
        ],
      ]),
    );
  });

  test('rename that changes the case only, or crosses databases', async () => {
    const { replica, database } = await apply([
      put({ _id: 1 }, { ns: one('items') }),
      event('rename', { ns: one('items'), to: one('Items') }),
      put({ _id: 1 }, { ns: one('x') }),
      event('rename', { ns: one('x'), to: { db: 'other', coll: 'x' } }),
    ]);
    expect([...replica.keys()]).toEqual(['other.x', 'shop.Items']);
    expect(query(database, 'SELECT name FROM _bsonrow_tables ORDER BY name')).toEqual([
      ['other.x'],
      ['shop.Items'],
    ]);
  });

  test('rename of a collection that was never seen takes the target away, and says so', async () => {
    const { replica, stderr } = await apply([
      put({ _id: 9 }, { ns: one('to') }),
      event('rename', { ns: one('from'), to: one('to') }),
    ]);
    expect(replica.size).toBe(0);
    expect(stderr).toMatch(/shop\.from was renamed to shop\.to, but no document of it has been replicated/);
  });

  test('names that differ in case only are two tables', async () => {
    const { replica, database } = await apply([
      put({ _id: 1 }, { ns: one('Items') }),
      put({ _id: 2 }, { ns: one('items') }),
      put({ _id: 3 }, { ns: one('items#2') }),
    ]);
    expect(replica.get('shop.items')).toEqual([{ _id: 2n }]);
    expect(query(database, 'SELECT namespace, name FROM _bsonrow_tables ORDER BY id')).toEqual([
      ['shop.Items', 'shop.Items'],
      ['shop.items', 'shop.items#2'],
      ['shop.items#2', 'shop.items#2#2'],
    ]);
  });
});

describe('events that touch no row', () => {
  test('definitions, invalidate and unknown operations are counted, the latter reported', async () => {
    const names = [
      'create',
      'createIndexes',
      'dropIndexes',
      'modify',
      'shardCollection',
      'invalidate',
      'invented',
    ];
    const { replica, code, stdout } = await apply([
      put({ _id: 1 }),
      ...names.map((name) => event(name)),
      put({ _id: 2 }),
    ]);
    expect(code).toBe(0);
    expect(replica.get('shop.items')).toHaveLength(2);
    for (const name of names) expect(stdout).toContain(`1 ${name}`);
    expect(stdout).toMatch(/1 × operation that is not known here.*first: invented at/);
  });

  test('fragments of a split event are reported', async () => {
    const fragment = (n, fields) => event('update', { splitEvent: { fragment: n, of: 2 }, ...fields });
    const { replica, stdout, code } = await apply([
      put({ _id: 1, n: 1 }),
      fragment(1, { documentKey: { _id: 1 } }),
      fragment(2, { operationType: undefined, fullDocument: { _id: 1, n: 2 } }),
    ]);
    expect(code).toBe(0);
    expect(replica.get('shop.items')).toEqual([{ _id: 1n, n: 1n }]);
    expect(stdout).toMatch(/2 × fragment of a split event, which is not supported yet/);
  });
});

describe('selected collections', () => {
  const events = [
    put({ _id: 1 }, { ns: one('a') }),
    put({ _id: 1 }, { ns: one('b') }),
    put({ _id: 1 }, { ns: { db: 'other', coll: 'a' } }),
  ];

  test('by name and by database', async () => {
    const named = await apply(events, { args: ['-c', 'shop.a', '-c', 'other.*'] });
    expect([...named.replica.keys()]).toEqual(['other.a', 'shop.a']);
  });

  test('what is renamed out of the selection is gone, what is renamed into it is unknown', async () => {
    const renames = [
      ...events,
      put({ _id: 1 }, { ns: one('c') }),
      event('rename', { ns: one('a'), to: one('elsewhere') }),
      event('rename', { ns: one('b'), to: one('c') }),
      event('drop', { ns: one('b') }),
    ];
    const { replica } = await apply(renames, { args: ['-c', 'shop.a', '-c', 'shop.c'] });
    expect(replica.size).toBe(0);
  });
});

describe('events that cannot be applied', () => {
  const bad = {
    'without operationType': event('x', { operationType: undefined }),
    'of type insert without ns': event('insert', { ns: undefined, fullDocument: { _id: 1 } }),
    'of type insert without fullDocument': event('insert', { documentKey: { _id: 1 } }),
    'of type delete without documentKey._id': event('delete', { documentKey: { tenant: 1 } }),
    'rename event without its new name': event('rename'),
    'dropDatabase event without ns.db': event('dropDatabase', { ns: {} }),
    'document without _id': event('insert', { fullDocument: { n: 1 } }),
  };

  test.each(Object.entries(bad))('%s: the run stops there, with place and reason', async (reason, bytes) => {
    const before = [put({ _id: 1 }), put({ _id: 2 })];
    const { code, stderr, replica } = await apply([...before, bytes, put({ _id: 3 })]);
    expect(code).toBe(1);
    const [, place, message] = /\.bson: byte (\d+): (.*)\n$/.exec(stderr);
    expect(message).toContain(reason);
    const start = before[0].length + before[1].length;
    expect(Number(place)).toBeGreaterThanOrEqual(start);
    expect(Number(place)).toBeLessThan(start + bytes.length);
    expect(replica.get('shop.items')).toEqual([{ _id: 1n }, { _id: 2n }]);
  });

  test.each(Object.entries(bad))('%s: skipped on demand, with a warning', async (reason, bytes) => {
    const { code, stdout, replica } = await apply([put({ _id: 1 }), bytes, put({ _id: 3 })], {
      args: ['--on-error', 'skip'],
    });
    expect(code).toBe(0);
    expect(stdout).toContain(reason);
    expect(replica.get('shop.items')).toEqual([{ _id: 1n }, { _id: 3n }]);
  });
});

describe('a second run', () => {
  const events = [
    put({ _id: 1, v: 'old' }, { ns: one('draft') }),
    event('rename', { ns: one('draft'), to: one('final') }),
    put({ _id: 2, v: 'new' }, { ns: one('draft') }),
  ];

  test('over the same events changes nothing, also where they would not commute', async () => {
    const first = await apply(events);
    const second = await apply(events, { into: first.database });
    expect(second.code).toBe(0);
    expect(second.replica).toEqual(first.replica);
    expect(second.stdout).toContain('Already applied by an earlier run: 3');
  });

  test('goes on where --limit stopped the first', async () => {
    const { database } = await apply(events, { args: ['--limit', '1'] });
    const { replica } = await apply(events, { into: database, args: ['--limit', '1'] });
    expect([...replica.keys()]).toEqual(['shop.final']);
    const whole = await apply(events, { into: database });
    expect(whole.replica).toEqual((await apply(events)).replica);
  });

  test('applies what was appended to the capture, and what follows a repaired damage', async () => {
    const damaged = Buffer.from(put({ _id: 3 }));
    damaged[damaged.length - 1] = 7;
    const { database, code } = await apply([...events, damaged]);
    expect(code).toBe(1);
    const { replica, stdout } = await apply([...events, put({ _id: 3 })], { into: database });
    expect(stdout).toContain('Read: 1 documents (1 insert)');
    expect(replica.get('shop.items')).toEqual([{ _id: 3n }]);
  });

  const sameLengths = Buffer.from(events[2]);
  sameLengths.write('NEW', sameLengths.indexOf('new'));
  test.each([
    ['elsewhere', [events[0], put({ _id: 4 }), put({ _id: 5, long: 'x'.repeat(1000) })]],
    ['with the same lengths', [events[0], events[1], sameLengths]],
  ])('refuses a capture that begins as another and goes on %s', async (_name, other) => {
    const { database, replica } = await apply(events);
    const second = await apply(other, { into: database });
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/another capture with the same first event/);
    expect(second.replica).toEqual(replica);
  });

  test('--fresh begins anew', async () => {
    const { database } = await apply(events);
    const { replica, code } = await apply([put({ _id: 1 })], { into: database, args: ['--fresh'] });
    expect(code).toBe(0);
    expect([...replica.keys()]).toEqual(['shop.items']);
  });
});

test('after a run one file is left, without a log beside it', async () => {
  const { database } = await apply([put({ _id: 1 })]);
  expect(readFileSync(database).subarray(0, 15).toString()).toBe('SQLite format 3');
  expect(() => readFileSync(`${database}-wal`)).toThrow(/ENOENT/);
});
