// What each kind of change event does to the tables.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Double, Int32, Long, Timestamp } from 'bson';
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
});

test('names of operations that no server has do not pile up', async () => {
  const { stdout } = await apply(Array.from({ length: 150 }, (_, n) => event(`invented ${n}`)));
  expect(stdout).toMatch(/^Read: 150 documents \(50 other, 1 invented 0, /);
  expect(stdout).toMatch(/150 × operation that is not known here/);
});

test('dropDatabase leaves the tables that the run does not replicate', async () => {
  const { database } = await apply([put({ _id: 1 }, { ns: one('a') }), put({ _id: 1 }, { ns: one('b') })]);
  const drop = event('dropDatabase', { ns: { db: 'shop' } });
  const { code, replica } = await apply([drop], { into: database, args: ['--collection', 'shop.a'] });
  expect(code).toBe(0);
  expect([...replica.keys()]).toEqual(['shop.b']);
});

describe('an event that was split', () => {
  /** An update of document 1, its fields dealt out to three fragments, each with a text of its own. */
  const fragment = (n, { of = 3, ...more } = {}) =>
    event('update', {
      operationType: n === 1 ? 'update' : undefined,
      ns: n === 2 ? one('items') : undefined,
      ...(n === 1 ? { documentKey: { _id: 1 } } : {}),
      ...(n === 3 ? { fullDocument: { _id: 1, n: 2 } } : {}),
      splitEvent: { fragment: n, of },
      note: 'text',
      ...more,
    });
  const first = put({ _id: 1, n: 1 });
  const later = put({ _id: 8 });
  const skip = { args: ['--on-error', 'skip'] };
  const whole = [{ _id: 1n, n: 2n }, { _id: 8n }];
  const without = [{ _id: 1n, n: 1n }, { _id: 8n }];
  /** A string of the event says that it is longer than the event. */
  const damaged = (bytes, name) => {
    const copy = Buffer.from(bytes);
    copy.writeInt32LE(4000, copy.lastIndexOf(`${name}\0`) + name.length + 1);
    return copy;
  };
  const warningIn = (stdout) =>
    /(\d+) × document that cannot be converted, skipped; first: \S+: byte (\d+): (.*)/.exec(stdout).slice(1);

  test('is applied whole, and counted once', async () => {
    const { replica, stdout, code } = await apply([first, fragment(1), fragment(2), fragment(3), later]);
    expect(code).toBe(0);
    expect(replica.get('shop.items')).toEqual(whole);
    expect(stdout).toContain('Read: 3 documents (2 insert, 1 update)');
    expect(stdout).not.toContain('Warnings');
  });

  test('may be the first of its capture, without its operation', async () => {
    const { replica, code } = await apply([
      fragment(1, { operationType: undefined }),
      fragment(2),
      fragment(3, { operationType: 'update' }),
      later,
    ]);
    expect(code).toBe(0);
    expect(replica.get('shop.items')).toEqual(whole);
  });

  test('is cut off by the end of the file: an error, and a run over the grown file goes on with its first fragment', async () => {
    const parts = [fragment(1), fragment(2), fragment(3)];
    const capture = writeBson(folder, 'grows.bson', [first, parts[0], parts[1]]);
    const database = join(folder, 'grows.sqlite');
    const cut = await replicate(capture, '--into', database);
    expect(cut.code).toBe(1);
    const end = first.length + parts[0].length + parts[1].length;
    expect(cut.stderr).toContain(
      `grows.bson: byte ${end}: Split event: fragment 3 of 3 is missing, the file ends instead`,
    );
    const skipped = await replicate(capture, '--into', database, ...skip.args);
    expect(skipped.code).toBe(0);
    expect(warningIn(skipped.stdout)).toEqual([
      '1',
      String(end),
      'Split event: fragment 3 of 3 is missing, the file ends instead',
    ]);
    writeBson(folder, 'grows.bson', [first, ...parts, later]);
    const { code, stdout } = await replicate(capture, '--into', database);
    expect(code).toBe(0);
    expect(stdout).toContain('Already applied by an earlier run: 1\n');
    expect(readReplica(database).get('shop.items')).toEqual(whole);
    expect((await replicate(capture, '--into', database)).stdout).toContain('earlier run: 5\n');
  });

  test.each([
    [
      '2 is missing, a whole event came',
      [1],
      'fragment 2 of 3 is missing, a whole event came instead',
      1,
      without,
    ],
    ['2 is missing, 3 came', [1, 3], 'fragment 2 of 3 is missing, fragment 3 came instead', 1, without],
    ['1 is missing', [2, 3], 'fragment 1 of 3 is missing, fragment 2 came instead', 0, without],
    ['2 came again', [1, 2, 2, 3], 'fragment 2 of 3 came again', 2, without],
    ['1 came again', [1, 1, 2, 3], 'fragment 1 of 3 came again', 1, whole],
    ['another event begins', [1, 2, 1, 2, 3], 'fragment 1 of 3 came again', 2, whole],
  ])(
    'fragment %s: the run ends there, or leaves the event out',
    async (_title, numbers, reason, at, rows) => {
      const parts = numbers.map((n) => fragment(n));
      const offset = [first, ...parts.slice(0, at)].reduce((sum, { length }) => sum + length, 0);
      const stopped = await apply([first, ...parts, later]);
      expect(stopped.code).toBe(1);
      expect(stopped.stderr).toMatch(
        new RegExp(`: byte ${offset}: Split event: ${reason}\n.*skip would leave it out.*\n$`),
      );
      expect(stopped.replica.get('shop.items')).toEqual([{ _id: 1n, n: 1n }]);
      // It is met again.
      const again = await apply([first, ...parts, later], { into: stopped.database });
      expect(again.code).toBe(1);
      expect(again.stderr).toContain(`: byte ${offset}: Split event: ${reason}\n`);

      const { code, stdout, replica, database } = await apply([first, ...parts, later], skip);
      expect(code).toBe(0);
      expect(warningIn(stdout)).toEqual(['1', String(offset), `Split event: ${reason}`]);
      expect(replica.get('shop.items')).toEqual(rows);
      const passed = await apply([first, ...parts, later], { into: database });
      expect(passed.stdout).toContain(`Already applied by an earlier run: ${parts.length + 2}\n`);
    },
  );

  test.each([1, 2, 3])(
    'with fragment %i damaged: the run ends there, or leaves the event out',
    async (number) => {
      const parts = [1, 2, 3].map((n) => (n === number ? damaged(fragment(n), 'note') : fragment(n)));
      const stopped = await apply([first, ...parts, later]);
      expect(stopped.code).toBe(1);
      expect(stopped.stderr).toContain('Invalid BSON string length');
      const [[position]] = query(stopped.database, 'SELECT position FROM _bsonrow_progress');
      expect(JSON.parse(position).end).toBe(first.length);

      const { code, stdout, replica } = await apply([first, ...parts, later], skip);
      expect(code).toBe(0);
      expect(warningIn(stdout)[0]).toBe('1');
      expect(replica.get('shop.items')).toEqual(without);
    },
  );

  test('with a damaged document: named with its place in the whole event', async () => {
    const parts = [
      fragment(1),
      fragment(2),
      fragment(3, { fullDocument: { _id: 1, text: 'x' }, note: undefined }),
    ];
    parts[2] = damaged(parts[2], 'text');
    const { code, stderr } = await apply([first, ...parts]);
    const offset = first.length + parts[0].length + parts[1].length;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `: byte ${offset}: Invalid BSON string length \\(at text\\), at byte \\d+ of the event put together from its fragments\n.*skip would leave it out.*\n$`,
      ),
    );
    const skipped = await apply([first, ...parts, later], skip);
    expect(skipped.code).toBe(0);
    expect(skipped.replica.get('shop.items')).toEqual(without);
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
    const [, place, message] = /\.bson: byte (\d+): (.*)\n.*skip would leave it out.*\n$/.exec(stderr);
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
    expect(stdout).toContain('Read: 1 document (1 insert)');
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

test('captures in the wrong order are among the warnings', async () => {
  const at = (t, _id, coll = 'items') =>
    event('insert', {
      clusterTime: new Timestamp({ t, i: 1 }),
      ns: { db: 'shop', coll },
      documentKey: { _id },
      fullDocument: { _id },
    });
  const old = writeBson(folder, 'order-10.bson', [at(1, 1), at(2, 2), at(9, 1, 'others')]);
  const late = writeBson(folder, 'order-2.bson', [at(3, 3), at(5, 4), at(4, 5), at(8, 2, 'others')]);
  const warning = 'file whose events are older than those read before';
  const run = async (...captures) => {
    files += 1;
    return (await replicate(...captures, '--into', join(folder, `${files}.sqlite`))).stdout;
  };
  expect(await run(late, old)).toContain(`  1 × ${warning}; first: insert at ${old}: byte 0\n`);
  expect(await run(old, late)).toContain(`  1 × ${warning}; first: insert at ${late}: byte `);
});

test('after a run one file is left, without a log beside it', async () => {
  const { database } = await apply([put({ _id: 1 })]);
  expect(readFileSync(database).subarray(0, 15).toString()).toBe('SQLite format 3');
  expect(() => readFileSync(`${database}-wal`)).toThrow(/ENOENT/);
});
