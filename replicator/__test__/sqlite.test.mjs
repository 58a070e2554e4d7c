// The SQLite sink: columns, values, limits, transactions.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, test } from 'vitest';
import { RefusedError, SinkError } from '../lib/errors.mjs';
import { SqliteSink } from '../lib/sink/sqlite.mjs';
import { makeFolder, query, readReplica } from './support/replica.mjs';

const folder = makeFolder();
let files = 0;

function nextFile() {
  files += 1;
  return join(folder, `${files}.sqlite`);
}

async function withSink(file, work) {
  const sink = new SqliteSink(file, { onWarning() {} });
  try {
    return await work(sink);
  } finally {
    await sink.close();
  }
}

const put = (row, number = 1) => ({
  kind: 'put',
  operation: 'insert',
  namespace: 'db.coll',
  key: Buffer.of(number & 255, number >> 8),
  row,
});

async function store(...rows) {
  const file = nextFile();
  await withSink(file, (sink) => sink.apply(rows.map(put), null));
  return file;
}

describe('columns', () => {
  test('are added as they appear; what a later version of a row lacks is NULL', async () => {
    const file = nextFile();
    await withSink(file, async (sink) => {
      await sink.apply([put({ a: 1n }), put({ b: 'x', a: 2n })], null);
      await sink.apply([put({ c: 1.5 })], null);
    });
    expect(query(file, 'SELECT a, b, c FROM "db.coll"')).toEqual([[null, null, 1.5]]);
  });

  test('that differ in case only are two', async () => {
    const file = await store({ a: 1n, A: 2n, 'A#2': 3n, á: 4n, Á: 5n });
    expect(readReplica(file).get('db.coll')).toEqual([{ a: 1n, A: 2n, 'A#2': 3n, á: 4n, Á: 5n }]);
    expect(query(file, 'SELECT a, "A#2", "A#2#2", á, Á FROM "db.coll"')).toEqual([[1n, 2n, 3n, 4n, 5n]]);
  });

  test('have the same names in the next run', async () => {
    const file = await store({ A: 1n });
    await withSink(file, (sink) => sink.apply([put({ a: 2n }, 2)], null));
    await withSink(file, (sink) => sink.apply([put({ a: 3n, A: 4n }, 3)], null));
    expect(query(file, 'SELECT A, "a#2" FROM "db.coll" ORDER BY rowid')).toEqual([
      [1n, null],
      [null, 2n],
      [4n, 3n],
    ]);
  });

  test('may have any name', async () => {
    const names = [
      '',
      '"',
      "'",
      '`',
      ']',
      'a.b',
      '$set',
      '__proto__',
      'constructor',
      'rowid',
      'select',
      '\u2028',
      '😀',
    ];
    names.push('_bsonrow_key', '_BSONROW_MORE', 'x'.repeat(5000), '?1', ':a', '--', '\\', '%', 'a\nb');
    const row = {};
    names.forEach((name, i) => {
      Object.defineProperty(row, name, { value: BigInt(i), enumerable: true });
    });
    const [stored] = readReplica(await store(row)).get('db.coll');
    expect(Object.entries(stored)).toEqual(names.map((name, i) => [name, BigInt(i)]));
  });

  test('beyond the limit of SQLite go to one column of JSON, in this run and the next', async () => {
    const wide = (from, count) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${from + i}`, 1n]));
    const file = nextFile();
    await withSink(file, (sink) => sink.apply([put(wide(0, 1500), 1), put(wide(1000, 1100), 2)], null));
    await withSink(file, (sink) =>
      sink.apply([put({ n0: 2n, late: 'x', n2099: 3n }, 3), put({ n0: 1n }, 4)], null),
    );
    const columns = query(file, "SELECT name FROM pragma_table_info('db.coll')").flat();
    expect(columns).toHaveLength(2000);
    const rows = query(file, 'SELECT n0, n1997, _bsonrow_more FROM "db.coll" ORDER BY rowid');
    const rest = Object.fromEntries(Array.from({ length: 102 }, (_, i) => [`n${1998 + i}`, 1]));
    expect(rows).toEqual([
      [1n, null, null],
      [null, 1n, JSON.stringify(rest)],
      [2n, null, '{"late":"x","n2099":3}'],
      [1n, null, null],
    ]);
  });

  test('a collection of ever-new shapes', async () => {
    const rows = Array.from({ length: 600 }, (_, i) => ({
      _id: BigInt(i),
      [`c${i % 300}`]: BigInt(i),
      [`d${i % 7}`]: 1n,
    }));
    const stored = readReplica(await store(...rows)).get('db.coll');
    expect(stored).toHaveLength(600);
    stored.forEach((row, i) => {
      expect(row).toEqual(rows[i]);
    });
  });
});

test('values keep their storage class, whatever they look like', async () => {
  const row = {
    big: 2n ** 63n,
    max: 2n ** 63n - 1n,
    min: -(2n ** 63n),
    nan: Number.NaN,
    inf: Infinity,
    half: 0.5,
    digits: '12',
    empty: '',
    nul: 'a\0b',
    emoji: '👩‍👩‍👧‍👦',
    blob: new Uint8Array([0, 1, 255]),
    none: new Uint8Array(0),
    null: null,
  };
  const file = await store(row);
  const names = Object.keys(row);
  const types = query(file, `SELECT ${names.map((name) => `typeof("${name}")`).join(', ')} FROM "db.coll"`);
  const classes = [
    'text',
    'integer',
    'integer',
    'null',
    'real',
    'real',
    'text',
    'text',
    'text',
    'text',
    'blob',
    'blob',
    'null',
  ];
  expect(types).toEqual([classes]);
  expect(readReplica(file).get('db.coll')).toEqual([
    {
      big: '9223372036854775808',
      max: row.max,
      min: row.min,
      inf: Infinity,
      half: 0.5,
      digits: '12',
      empty: '',
      nul: 'a\0b',
      emoji: row.emoji,
      blob: '0001ff',
      none: '',
    },
  ]);
});

test('tables that are not ours are left alone', async () => {
  const file = nextFile();
  const db = new Database(file);
  db.exec('CREATE TABLE "DB.coll" (mine)');
  db.exec('INSERT INTO "DB.coll" VALUES (1)');
  db.close();
  await withSink(file, async (sink) => {
    await sink.apply([put({ a: 1n })], null);
    await sink.apply([{ kind: 'dropDatabase', operation: 'dropDatabase', database: 'DB' }], null);
  });
  expect(query(file, 'SELECT mine FROM "DB.coll"')).toEqual([[1n]]);
  expect(query(file, 'SELECT a FROM "db.coll#2"')).toEqual([[1n]]);
});

describe('transactions', () => {
  test('rows and progress are stored together, or not at all', async () => {
    const file = await store({ a: 1n });
    await withSink(file, async (sink) => {
      await sink.apply([put({ a: 2n }, 2)], { source: 's', position: 'p1' });
      const refused = [put({ a: 3n, fresh: 1n }, 3), put({ a: Symbol('unstorable') }, 4)];
      await expect(sink.apply(refused, { source: 's', position: 'p2' })).rejects.toThrow(SinkError);
      expect(await sink.readPosition('s')).toBe('p1');
      await sink.apply([put({ fresh: 5n }, 5)], { source: 's', position: 'p3' });
      expect(await sink.readPosition('s')).toBe('p3');
      expect(await sink.readPosition('t')).toBeNull();
    });
    expect(readReplica(file).get('db.coll')).toEqual([{ a: 1n }, { a: 2n }, { fresh: 5n }]);
  });

  test('a drop that is rolled back leaves the table in use', async () => {
    const file = await store({ a: 1n });
    await withSink(file, async (sink) => {
      const drop = { kind: 'drop', operation: 'drop', namespace: 'db.coll' };
      await expect(sink.apply([drop, put({ a: Symbol('unstorable') })], null)).rejects.toThrow(SinkError);
      await sink.apply([put({ a: 2n }, 2)], null);
    });
    expect(readReplica(file).get('db.coll')).toEqual([{ a: 1n }, { a: 2n }]);
  });

  test('the change that is refused is named', async () => {
    await withSink(nextFile(), async (sink) => {
      const bad = put({ _id: 'seven', a: Symbol('unstorable') });
      await expect(sink.apply([bad], null)).rejects.toThrow(
        /db\.coll, insert of _id seven: the SQLite file refuses/,
      );
    });
  });
});

describe('a row that is refused', () => {
  /** A replica whose owner has made a column unique. */
  async function withUniqueColumn() {
    const file = await store({ n: 1n }, { n: 2n });
    const db = new Database(file);
    db.exec('CREATE UNIQUE INDEX mine ON "db.coll" (n)');
    db.close();
    return file;
  }
  // The second takes the n of row 0; the third gives row 1 another.
  const changes = [put({ n: 3n, fresh: 1n }, 2), put({ n: 1n, t: 'x' }, 3), put({ n: 4n, fresh: 2n }, 1)];

  test('fails its batch, and is named; no other row gives way to it', async () => {
    const file = await withUniqueColumn();
    await withSink(file, async (sink) => {
      const error = await sink.apply(changes, { source: 's', position: 'p' }).catch((reason) => reason);
      expect(error).toBeInstanceOf(RefusedError);
      expect(error.index).toBe(1);
      expect(error.message).toMatch(/^db\.coll, insert of key 0300: the SQLite file refuses it: UNIQUE/);
      expect(await sink.readPosition('s')).toBeNull();
    });
    expect(readReplica(file).get('db.coll')).toEqual([{ n: 1n }, { n: 2n }]);
  });

  test('is left out on demand, and the others are stored', async () => {
    const file = await withUniqueColumn();
    const refused = [];
    const sink = new SqliteSink(file, { onWarning() {}, onRefused: (change) => refused.push(change) });
    await sink.apply(changes, { source: 's', position: 'p' });
    expect(await sink.readPosition('s')).toBe('p');
    await sink.close();
    expect(refused).toEqual([changes[1]]);
    expect(readReplica(file).get('db.coll')).toEqual([{ n: 1n }, { n: 4n, fresh: 2n }, { n: 3n, fresh: 1n }]);
  });
});

describe('beside other connections', () => {
  test('a run ends well while somebody reads', async () => {
    const file = nextFile();
    const sink = new SqliteSink(file, { onWarning() {} });
    await sink.apply([put({ a: 1n })], null);
    const reader = new Database(file);
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM "db.coll"').all();
    await sink.apply([put({ a: 2n }, 2)], null);
    await sink.close();
    reader.exec('COMMIT');
    reader.close();
    expect(query(file, 'SELECT a FROM "db.coll"')).toEqual([[1n], [2n]]);
  });

  test('columns that another run has added are known, and NULL where a row lacks them', async () => {
    const file = nextFile();
    await withSink(file, async (first) => {
      await first.apply([put({ a: 1n })], null);
      await withSink(file, async (second) => {
        await second.apply([put({ a: 2n, b: 3n })], null);
        await first.apply([put({ a: 4n })], null);
        await first.apply([put({ b: 5n }, 2)], null);
      });
    });
    expect(query(file, 'SELECT a, b FROM "db.coll"')).toEqual([
      [4n, null],
      [null, 5n],
    ]);
  });
});

test('a file that is no database is refused by name', () => {
  const file = join(folder, 'text.sqlite');
  writeFileSync(file, 'this is not a database '.repeat(100));
  expect(() => new SqliteSink(file, { onWarning() {} })).toThrow(
    /text\.sqlite: cannot be opened as an SQLite file/,
  );
});

test('what another has taken away while a run goes on is an error of the sink', async () => {
  const file = nextFile();
  await withSink(file, async (sink) => {
    await sink.apply([put({ a: 1n })], { source: 's', position: 'p' });
    const other = new Database(file);
    other.exec('DROP TABLE "db.coll"; DROP TABLE _bsonrow_progress');
    other.close();
    const reason = /^the SQLite file cannot be read: no such table: /;
    await expect(sink.readPosition('s')).rejects.toThrow(reason);
    await expect(sink.tables()).rejects.toThrow(reason);
    await expect(sink.firstRows('db.coll', 1)).rejects.toThrow(reason);
    await expect(sink.tables()).rejects.toThrow(SinkError);
  });
});
