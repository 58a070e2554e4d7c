// Texts that stay UTF-8 on their way to a sink are stored as by one process, in which they are strings.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ObjectId } from 'bson';
import Database from 'libsql';
import { describe, expect, test, vi } from 'vitest';
import { document, element, payload, string, Type } from '../../../__test__/support/bson-bytes.mjs';
import { EncodedText } from '../../lib/encoded-text.mjs';
import { SqliteSink } from '../../lib/sink/sqlite.mjs';
import { MIN_ENCODED_BYTES } from '../../lib/workers/messages/message-pack.mjs';
import { put, remove, writeBson } from '../support/captures.mjs';
import { readPostgres, replicateInto, startPostgres } from '../support/postgres.mjs';
import { makeFolder, query, readReplica, replicate, sortRows } from '../support/replica.mjs';

const { server, missing } = await startPostgres();
const folder = makeFolder();
let files = 0;
const nextFile = (ending) => {
  files += 1;
  return join(folder, `${files}.${ending}`);
};

const WORKERS = ['--workers', '2'];

const LENGTHS = [
  0,
  1,
  MIN_ENCODED_BYTES - 1,
  MIN_ENCODED_BYTES,
  MIN_ENCODED_BYTES + 1,
  5 * MIN_ENCODED_BYTES,
  70_000,
];

/** What texts are made of: bytes, so that they may be ill-formed. */
const UNITS = {
  ASCII: 'order ',
  accented: 'é',
  Chinese: '订单',
  emoji: 'a😀',
  'byte order mark': '\ufeff',
  'ill-formed': Buffer.of(0x61, 0xff, 0xed, 0xa0, 0x80, 0xc3),
};
const WITH_NUL = { NUL: 'a\0', 'NUL alone': '\0' };

/** A text of a length in bytes: whole units, then ASCII. */
function textOf(unit, length) {
  const bytes = Buffer.from(unit);
  const whole = Array(Math.floor(length / bytes.length)).fill(bytes);
  return Buffer.concat([...whole, Buffer.alloc(length % bytes.length, 'x')]);
}

/** Documents of all units and lengths: the text as a column, as an `_id`, and in JSON whose own length is about that. */
function documentsOf(units) {
  const documents = [];
  for (const [name, unit] of Object.entries(units)) {
    for (const length of LENGTHS) {
      const text = textOf(unit, length);
      // An ill-formed one is refused.
      const id = `${name} ${length} ${text}`;
      const quotes = '{"a":""}'.length;
      const nested = document([string('a', text.subarray(0, Math.max(0, length - quotes)))]);
      documents.push(
        document([
          string('_id', id),
          string('text', text),
          string('after', 'short'),
          element(Type.SYMBOL, 'symbol', payload.string(text)),
          element(Type.DOCUMENT, 'nested', nested),
          element(Type.CODE, 'code', payload.string(text)),
        ]),
      );
    }
  }
  return documents;
}

/** One column holds values of all types, with long texts between them: of the same names, and so of one statement. */
function mixedDocuments() {
  const long = 'é'.repeat(MIN_ENCODED_BYTES);
  const blob = Buffer.from(long);
  const values = [1, null, long, 'short', blob, 2.5, long, '', Buffer.alloc(0), null, [long], 2n ** 62n];
  return values.flatMap((value, i) => values.map((other, j) => ({ _id: i * 100 + j, value, other })));
}

/** More elements than a table has columns: the last of them share one. */
function wideDocuments() {
  return ['short', 'é\0'.repeat(MIN_ENCODED_BYTES), '"\\订'.repeat(MIN_ENCODED_BYTES)].map((text, i) => {
    const wide = { _id: i };
    for (let n = 0; n < 2005; n += 1) wide[`n${n}`] = n % 501 === 0 || n > 2000 ? `${text}${n}` : n;
    return wide;
  });
}

/** A file of documents, replicated by one process and by two; what each left. */
async function byOneAndByTwo(documents, { run, newTarget, read, options = [] }) {
  const input = writeBson(folder, `${files}.bson`, documents);
  const args = [input, '--format', 'documents', '--namespace', 'db.coll', '--batch-rows', '40', ...options];
  const results = [];
  for (const more of [[], WORKERS]) {
    const target = await newTarget();
    const { code, stderr } = await run(target, args, more);
    expect(code, stderr).toBe(0);
    results.push(await read(target));
  }
  return results;
}

describe('SQLite', () => {
  const byTypeAndBytes = (file) => {
    const names = query(file, 'SELECT name FROM pragma_table_info(?)', 'db.coll').map(([name]) => name);
    const list = names.flatMap((name) => [`typeof("${name}")`, `hex("${name}")`]);
    // Not all columns of a wide table at once: SQLite gives 2000 at most.
    const rows = [];
    for (let from = 0; from < list.length; from += 1000)
      rows.push(
        query(file, `SELECT ${list.slice(from, from + 1000).join(', ')} FROM "db.coll" ORDER BY rowid`),
      );
    return { names, rows };
  };
  const into = {
    run: (file, args, more) => replicate(...args, '--into', file, ...more),
    newTarget: () => nextFile('sqlite'),
    read: byTypeAndBytes,
  };

  test.each([
    ['of all lengths', () => documentsOf({ ...UNITS, ...WITH_NUL })],
    ['among values of other types', mixedDocuments],
    ['without room in the table', wideDocuments],
  ])('texts %s', { timeout: 60_000 }, async (_name, make) => {
    const documents = make();
    const [one, two] = await byOneAndByTwo(documents, into);
    expect(one.rows[0]).toHaveLength(documents.length);
    expect(two.names).toEqual(one.names);
    expect(two.rows).toEqual(one.rows);
  });

  test('what they are is known without the addon', { timeout: 60_000 }, async () => {
    const texts = ['é', 'a😀', 'a\0'].map((unit) => unit.repeat(MIN_ENCODED_BYTES));
    const [, two] = await byOneAndByTwo(
      texts.map((text, i) => ({ _id: i, text, list: [text] })),
      { ...into, read: (file) => readReplica(file).get('db.coll') },
    );
    expect(two).toEqual(texts.map((text, i) => ({ _id: BigInt(i), text, list: JSON.stringify([text]) })));
  });

  test('rows that are changed and removed', { timeout: 60_000 }, async () => {
    const long = '订'.repeat(MIN_ENCODED_BYTES);
    const id = new ObjectId();
    const events = [
      put({ _id: id, a: long, b: 'short' }),
      put({ _id: long, a: 'short', b: long }),
      put({ _id: 'gone', a: long, b: long }),
      put({ _id: id, a: 'short', b: long }, { operation: 'update' }),
      put({ _id: long, a: null, b: `${long}.` }, { operation: 'replace' }),
      remove('gone'),
    ];
    const [one, two] = await byOneAndByTwo(events, {
      ...into,
      run: (file, [input], more) => replicate(input, '--into', file, ...more),
      read: (file) => sortRows(readReplica(file).get('shop.items')),
    });
    expect(one).toHaveLength(2);
    expect(two).toEqual(one);
  });

  test.each(['UTF-16le', 'UTF-16be'])('a file whose texts are %s', { timeout: 60_000 }, async (encoding) => {
    const [one, two] = await byOneAndByTwo(documentsOf(UNITS), {
      ...into,
      newTarget: () => {
        const file = nextFile('sqlite');
        const db = new Database(file);
        db.exec(`PRAGMA encoding = '${encoding}'; CREATE TABLE mine (a)`);
        db.close();
        return file;
      },
    });
    expect(two).toEqual(one);
  });

  test('what SQLite refuses is told of in full', { timeout: 60_000 }, async () => {
    const long = 'é"'.repeat(MIN_ENCODED_BYTES);
    const first = writeBson(folder, 'first.bson', [{ _id: 1, a: long }]);
    const second = writeBson(folder, 'second.bson', [{ _id: `id ${long}`, a: long, b: long }]);
    const args = ['--format', 'documents', '--namespace', 'db.coll'];
    const logs = [];
    for (const more of [[], WORKERS]) {
      const file = nextFile('sqlite');
      const log = nextFile('jsonl');
      expect((await replicate(first, ...args, '--into', file)).code).toBe(0);
      const db = new Database(file);
      db.exec('CREATE UNIQUE INDEX mine ON "db.coll" (a)');
      db.close();
      const skip = ['--on-error', 'skip', '--skip-log', log];
      const { stderr } = await replicate(second, ...args, '--into', file, ...skip, ...more);
      expect(existsSync(log), stderr).toBe(true);
      const { time, ...entry } = JSON.parse(readFileSync(log, 'utf8'));
      expect(stderr).toBe(`bsonrow-replicate: 1 left out, see ${log}\n`);
      logs.push(entry);
    }
    expect(logs[0].row).toEqual({ _id: `id ${long}`, a: long, b: long });
    expect(logs[1]).toEqual(logs[0]);
  });

  test('long texts now in these columns, now in those: few statements', async () => {
    const prepare = vi.spyOn(Database.prototype, 'prepare');
    const file = nextFile('sqlite');
    const sink = new SqliteSink(file, { onWarning() {} });
    const columns = 9;
    const long = new EncodedText(Buffer.from('é'.repeat(MIN_ENCODED_BYTES)));
    // Each set of columns once.
    const changes = Array.from({ length: 2 ** columns }, (_, set) => {
      const row = { _id: BigInt(set) };
      for (let n = 0; n < columns; n += 1) row[`n${n}`] = set & (1 << n) ? long : BigInt(n);
      return { kind: 'put', operation: 'insert', namespace: 'db.coll', key: Buffer.of(set >> 8, set), row };
    });
    await sink.apply(changes, null);
    const inserts = prepare.mock.calls.filter(([sql]) => sql.startsWith('INSERT INTO "db.coll"'));
    expect(inserts).toHaveLength(1 + columns);
    await sink.close();
    vi.restoreAllMocks();
    const text = long.toString();
    const expected = changes.map(({ row }) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === long ? text : value])),
    );
    expect(readReplica(file).get('db.coll')).toEqual(expected);
  });
});

describe.skipIf(server === null)(`PostgreSQL ${missing}`, () => {
  const into = {
    run: (address, [input, ...args], more) => replicateInto(address, input, ...args, ...more),
    newTarget: () => server.newDatabase(),
    read: async (address) => {
      const rows = [...(await readPostgres(server, address))].map(([name, all]) => [name, sortRows(all)]);
      const types = 'SELECT element, class, name, type FROM _bsonrow_columns ORDER BY number';
      return { rows, types: await server.query(address, types) };
    },
  };

  test.each([
    ['of all lengths', () => documentsOf(UNITS), []],
    ['a row in a statement of its own', () => documentsOf(UNITS), ['--batch-rows', '1']],
    ['among values of other types', mixedDocuments, []],
  ])('texts %s', { timeout: 60_000 }, async (_name, make, options) => {
    const documents = make();
    const [one, two] = await byOneAndByTwo(documents, { ...into, options });
    expect(one.rows[0][1]).toHaveLength(documents.length);
    expect(two).toEqual(one);
  });

  test('texts without room in the row', { timeout: 60_000 }, async () => {
    const documents = wideDocuments().map((wide) =>
      Object.fromEntries(Object.entries(wide).map(([name, value]) => [name, clean(value)])),
    );
    const sql = 'SELECT _bsonrow_more FROM "db.coll" ORDER BY _id';
    const read = (address) => server.query(address, sql);
    const [one, two] = await byOneAndByTwo(documents, { ...into, read });
    expect(JSON.parse(one[2][0]).n2004).toBe(documents[2].n2004);
    expect(two).toEqual(one);
  });
  const clean = (value) => (typeof value === 'string' ? value.replaceAll('\0', '') : value);

  test('texts with U+0000 are refused', { timeout: 60_000 }, async () => {
    const documents = [...documentsOf(WITH_NUL), ...documentsOf({ ASCII: 'x' })];
    const [one, two] = await byOneAndByTwo(documents, {
      ...into,
      run: async (address, [input, ...args], more) => {
        const log = nextFile('jsonl');
        const skip = ['--on-error', 'skip', '--skip-log', log];
        const { stderr } = await replicateInto(address, input, ...args, ...skip, ...more);
        logs.push(readFileSync(log, 'utf8').replaceAll(/"time":"[^"]*",/g, ''));
        return { code: 0, stderr };
      },
    });
    expect(two).toEqual(one);
    expect(logs[0].match(/PostgreSQL has no text with U\+0000/g)).toHaveLength(11);
    expect(logs[1]).toBe(logs[0]);
  });
  const logs = [];
});
