// The PostgreSQL sink on a real server: the same tables as SQLite, names, types, limits, refusals.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RefusedError, SinkError } from '../lib/errors.mjs';
import { PostgresSink } from '../lib/sink/postgres/postgres.mjs';
import { event, put as putEvent, writeBson } from './support/captures.mjs';
import { finalState, parse, splitDocuments } from './support/expected.mjs';
import { readPostgres, replicateInto, startPostgres } from './support/postgres.mjs';
import {
  DATA,
  expectSame,
  makeFolder,
  readReplica,
  replicate,
  SAMPLE,
  sortRows,
} from './support/replica.mjs';

const { server, missing } = await startPostgres();
const folder = makeFolder();
let files = 0;

function capture(events) {
  files += 1;
  return writeBson(folder, `${files}.bson`, events);
}

const put = (row, number = 1) => ({
  kind: 'put',
  operation: 'insert',
  namespace: 'db.coll',
  key: Buffer.of(number & 255, number >> 8),
  row,
});

async function withSink(address, work, options = {}) {
  const sink = await PostgresSink.open(address, {
    onWarning() {},
    retry: { retries: 3, retryDelay: 20 },
    ...options,
  });
  try {
    return await work(sink);
  } finally {
    await sink.close();
  }
}

/** Stores rows by one batch into a new database, and gives all that it holds then. */
async function store(...rows) {
  const address = await server.newDatabase();
  await withSink(address, (sink) => sink.apply(rows.map(put), null));
  return { address, stored: (await readPostgres(server, address)).get('db.coll') };
}

const typesOf = async (address, table) =>
  Object.fromEntries(
    await server.query(
      address,
      'SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute ' +
        'WHERE attrelid = $1::regclass AND attnum > 1 ORDER BY attnum',
      [`"${table}"`],
    ),
  );

describe.skipIf(server === null)(`PostgreSQL ${missing}`, () => {
  describe('the same tables as SQLite', () => {
    test.each([1, 7, 1000])('the sample, %i changes in a transaction', async (rows) => {
      const address = await server.newDatabase();
      const { code, stdout } = await replicateInto(address, SAMPLE, '--batch-rows', rows, '--show', 2);
      expect(code).toBe(0);
      expect(stdout).toMatch(/shop\.customers +\d+ +0 +60 +shop\.customers/);
      expect(stdout).toMatch(/\nshop\.products\n_id +title/);
      const events = splitDocuments(gunzipSync(readFileSync(SAMPLE))).map(({ bytes }) => parse(bytes));
      const replica = await readPostgres(server, address);
      expectSame(replica, finalState(events));

      const file = join(folder, `sample-${rows}.sqlite`);
      await replicate(SAMPLE, '--into', file, '-q');
      expectSame(replica, readReplica(file));
    });

    test('a second run changes nothing, --fresh begins anew', async () => {
      const address = await server.newDatabase();
      await replicateInto(address, SAMPLE, '--limit', 1200, '-q');
      await replicateInto(address, SAMPLE, '-q');
      const again = await replicateInto(address, SAMPLE);
      expect(again.stdout).toMatch(/Read: 0 documents\nAlready applied by an earlier run: \d{4}/);
      const replica = await readPostgres(server, address);
      expectSame(
        replica,
        finalState(splitDocuments(gunzipSync(readFileSync(SAMPLE))).map(({ bytes }) => parse(bytes))),
      );
      const other = capture([putEvent({ _id: 1 })]);
      expect((await replicateInto(address, other, '--fresh')).code).toBe(0);
      expect(await readPostgres(server, address)).toEqual(new Map([['shop.items', [{ _id: 1n }]]]));
    });

    const streams = join(DATA, 'events/streams');
    test.skipIf(!existsSync(streams)).each(existsSync(streams) ? readdirSync(streams) : ['shared data'])(
      '%s',
      async (name) => {
        const address = await server.newDatabase();
        expect((await replicateInto(address, join(streams, name), '-q')).code).toBe(0);
        const bytes = gunzipSync(readFileSync(join(streams, name)));
        expectSame(
          await readPostgres(server, address),
          finalState(splitDocuments(bytes).map((document) => parse(document.bytes))),
        );
      },
    );

    test('rename, drop and dropDatabase, between rows of one transaction', async () => {
      const one = (coll) => ({ db: 'shop', coll });
      const file = capture([
        putEvent({ _id: 1, a: 1 }, { ns: one('from') }),
        putEvent({ _id: 9 }, { ns: one('to') }),
        event('rename', { ns: one('from'), to: one('to') }),
        putEvent({ _id: 2, a: 'x' }, { ns: one('to') }),
        putEvent({ _id: 3 }, { ns: one('from') }),
        putEvent({ _id: 4 }, { ns: { db: 'gone', coll: 'a' } }),
        event('dropDatabase', { ns: { db: 'gone' } }),
        putEvent({ _id: 5 }, { ns: one('brief') }),
        event('drop', { ns: one('brief') }),
        putEvent({ _id: 6 }, { ns: one('items') }),
        event('rename', { ns: one('items'), to: one('Items') }),
        event('rename', { ns: one('never seen'), to: one('Items') }),
        putEvent({ _id: 7, b: 1 }, { ns: one('brief') }),
      ]);
      const address = await server.newDatabase();
      const { code, stderr } = await replicateInto(address, file);
      expect(code).toBe(0);
      expect(stderr).toMatch(/shop\.never seen was renamed to shop\.Items, but no document/);
      const replica = await readPostgres(server, address);
      expect([...replica.keys()]).toEqual(['shop.brief', 'shop.from', 'shop.to']);
      expect(replica.get('shop.brief')).toEqual([{ _id: 7n, b: 1n }]);
      expect(sortRows(replica.get('shop.to'))).toEqual(
        sortRows([
          { _id: 1n, a: 1n },
          { _id: 2n, a: 'x' },
        ]),
      );
    });

    test('any changes, cut into any batches', async () => {
      const address = await server.newDatabase();
      const key = fc.integer({ min: 0, max: 5 });
      const value = fc.constantFrom(1n, 2n ** 70n, 1.5, 'x', new Uint8Array([1]), null);
      const row = fc.dictionary(fc.constantFrom('a', 'b', 'A'), value, { noNullPrototype: true });
      const operation = fc.oneof(
        fc.record({ name: fc.constantFrom('insert', 'update'), coll: fc.constantFrom('p', 'q'), key, row }),
        fc.record({ name: fc.constant('delete'), coll: fc.constantFrom('p', 'q'), key }),
        fc.record({ name: fc.constantFrom('drop', 'rename'), coll: fc.constantFrom('p', 'q') }),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(operation, { maxLength: 30 }),
          fc.integer({ min: 1, max: 12 }),
          async (operations, size) => {
            const truth = new Map();
            const changes = operations.map((one) => follow(truth, one));
            const stored = await withSink(address, async (sink) => {
              await sink.reset();
              for (let i = 0; i < changes.length; i += size) {
                await sink.apply(changes.slice(i, i + size), { source: 's', position: String(i) });
              }
              return readPostgres(server, address);
            });
            for (const namespace of truth.keys()) if (truth.get(namespace) === null) truth.delete(namespace);
            expectSame(stored, truth);
          },
        ),
        { numRuns: 25 },
      );
    });
  });

  describe('names', () => {
    test('may be any, also those of PostgreSQL itself', async () => {
      const names = ['', '_', '"', "'", 'a.b', '$set', '__proto__', 'ctid', 'xmin', 'select', '\u2028', '😀'];
      names.push('a', 'A', 'a#2', '_bsonrow_key', '_BSONROW_MORE', '_bsonrow_more', '$1', '--', '\\', 'a\nb');
      const row = {};
      names.forEach((name, i) => {
        Object.defineProperty(row, name, { value: BigInt(i), enumerable: true });
      });
      const { stored } = await store(row);
      expect(stored).toEqual([row]);
    });

    test('longer than 63 bytes are cut, and never taken for each other', async () => {
      const long = 'x'.repeat(63);
      const wide = 'é'.repeat(40);
      const row = { [long]: 1n, [`${long}a`]: 2n, [`${long}b`]: 3n, [wide]: 4n, [`${wide}e`]: 5n };
      row[`${'x'.repeat(61)}#2`] = 6n;
      row['y'.repeat(5000)] = 7n;
      const { address, stored } = await store(row);
      expect(stored).toEqual([row]);
      expect(Object.keys(await typesOf(address, 'db.coll'))).toEqual([
        long,
        `${'x'.repeat(61)}#2`,
        `${'x'.repeat(61)}#3`,
        'é'.repeat(31),
        `${'é'.repeat(30)}#2`,
        `${'x'.repeat(61)}#4`,
        'y'.repeat(63),
      ]);
    });

    test('are the same in the next run; tables of others are left alone', async () => {
      const address = await server.newDatabase();
      await server.query(address, 'CREATE TABLE "db.coll" (mine text)');
      const long = `db.${'c'.repeat(100)}`;
      const change = (row, namespace, number) => ({ ...put(row, number), namespace });
      for (const [number, suffix] of [
        [1, 'a'],
        [2, 'b'],
        [3, 'a'],
      ]) {
        await withSink(address, (sink) =>
          sink.apply([change({ n: BigInt(number) }, long + suffix, number), put({ n: 1n })], null),
        );
      }
      const replica = await readPostgres(server, address);
      expect(replica.get(`${long}a`)).toEqual([{ n: 1n }, { n: 3n }]);
      expect(replica.get(`${long}b`)).toEqual([{ n: 2n }]);
      expect(await server.query(address, 'SELECT n FROM "db.coll#2"')).toEqual([['1']]);
      expect(await server.query(address, 'SELECT * FROM "db.coll"')).toEqual([]);
    });
  });

  describe('types', () => {
    test('numbers are as narrow as they can be, and widened without loss', async () => {
      const doubles = [0.1, 1 / 3, 5e-324, 2 ** 51 + 0.5, -1.7976931348623157e-300, 1e-7];
      const address = await server.newDatabase();
      await withSink(address, async (sink) => {
        await sink.apply([put({ i: 1n, d: 0.5, w: 1n, x: 0.1, h: 2n ** 63n })], null);
        expect(await typesOf(address, 'db.coll')).toEqual({
          i: 'bigint',
          d: 'double precision',
          w: 'bigint',
          x: 'double precision',
          h: 'numeric',
        });
        const rows = doubles.map((x, n) => put({ i: -(2n ** 63n), d: -Infinity, x }, 2 + n));
        await sink.apply(rows, null);
        // In one run: a column is widened by a row in the middle.
        await sink.apply(
          [
            put({ w: 2n, x: 3n }, 20),
            put({ w: 2n ** 1000n }, 21),
            put({ w: 5e-324 }, 22),
            put({ w: 4n }, 23),
          ],
          null,
        );
      });
      expect(await typesOf(address, 'db.coll')).toMatchObject({ w: 'numeric', x: 'numeric', i: 'bigint' });
      const stored = (await readPostgres(server, address)).get('db.coll');
      expect(sortRows(stored)).toEqual(
        sortRows([
          { i: 1n, d: 0.5, w: 1n, x: 0.1, h: String(2n ** 63n) },
          ...doubles.map((x) => ({
            i: -(2n ** 63n),
            d: -Infinity,
            x,
          })),
          { w: 2n, x: 3n },
          { w: String(2n ** 1000n) },
          { w: 5e-324 },
          { w: 4n },
        ]),
      );
    });

    test('a text, a number and a blob under one name have a column each', async () => {
      const rows = [
        { v: 1n },
        { v: '1' },
        { v: new Uint8Array([1, 255]) },
        { v: 1.5 },
        { v: null },
        { v: '' },
      ];
      const { address, stored } = await store(...rows);
      expect(stored).toEqual([{ v: 1n }, { v: '1' }, { v: '01ff' }, { v: 1.5 }, {}, { v: '' }]);
      expect(await typesOf(address, 'db.coll')).toEqual({
        v: 'numeric',
        'v#text': 'text',
        'v#blob': 'bytea',
      });
      // A later version of a row leaves nothing of the one before.
      await withSink(address, (sink) => sink.apply([put({ v: 'now text' }, 0)], null));
      const [first] = await server.query(
        address,
        `SELECT v, "v#text" FROM "db.coll" WHERE _bsonrow_key = '\\x0000'`,
      );
      expect(first).toEqual([null, 'now text']);
    });

    test('text, blobs and special numbers', async () => {
      const text = 'quote " \\ back, comma {NULL} \u{1f469}\u200d\u{1f467} \u2028 \x01';
      const row = { text, empty: '', word: 'NULL', none: new Uint8Array(0), long: 'x'.repeat(3_000_000) };
      const { address, stored } = await store(row, { nan: Number.NaN, inf: Infinity });
      expect(stored).toEqual([{ ...row, none: '' }, { inf: Infinity }]);
      expect(await server.query(address, 'SELECT nan::text FROM "db.coll" WHERE inf > 0')).toEqual([['NaN']]);
    });

    test('keys of any length', async () => {
      const address = await server.newDatabase();
      const change = (fill, n) => ({ ...put({ n }), key: Buffer.alloc(100_000, fill) });
      await withSink(address, async (sink) => {
        await sink.apply([change(1, 1n), change(2, 2n), change(1, 3n)], null);
        await sink.apply([{ ...change(2, 2n), kind: 'remove' }], null);
      });
      expect((await readPostgres(server, address)).get('db.coll')).toEqual([{ n: 3n }]);
    });
  });

  describe('limits', () => {
    const wide = (from, count, value) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${from + i}`, value]));

    test('columns beyond 1,600 go to one column of JSON', async () => {
      const address = await server.newDatabase();
      await withSink(address, async (sink) => {
        for (let i = 0; i < 6; i += 1) await sink.apply([put(wide(i * 290, 290, BigInt(i)), i)], null);
      });
      await withSink(address, (sink) =>
        sink.apply([put({ n0: 7n, late: 'x' }, 9), put({ n0: 8n }, 10)], null),
      );
      expect(Object.keys(await typesOf(address, 'db.coll'))).toHaveLength(1599);
      const rows = await server.query(
        address,
        'SELECT n0, n1597, _bsonrow_more FROM "db.coll" WHERE n0 > 0 OR n1597 IS NOT NULL ORDER BY 1',
      );
      const rest = Object.fromEntries(Array.from({ length: 142 }, (_, i) => [`n${1598 + i}`, 5]));
      expect(rows).toEqual([
        ['7', null, '{"late":"x"}'],
        ['8', null, null],
        [null, '5', JSON.stringify(rest)],
      ]);
    });

    test.each([
      ['text', 'x'.repeat(24)],
      ['text out of line', 'y'.repeat(3000)],
      ['integers', 2n ** 62n],
      ['decimals', 2n ** 200n],
      ['blobs', new Uint8Array(24).fill(7)],
    ])('a row of 2,000 values, %s, fits its page', async (_name, value) => {
      const row = wide(0, 2000, value);
      const { address } = await store(row);
      const [[more]] = await server.query(address, 'SELECT _bsonrow_more FROM "db.coll"');
      expect(Object.keys(JSON.parse(more))).toEqual(Object.keys(row).slice(300));
    });
  });

  describe('what the server refuses', () => {
    const nul = [putEvent({ _id: 1 }), putEvent({ _id: 2, t: 'a\0b' }), putEvent({ _id: 3 })];

    test('U+0000 in text: stops, names the row, keeps what was before', async () => {
      const address = await server.newDatabase();
      const file = capture(nul);
      const { code, stderr } = await replicateInto(address, file);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^bsonrow-replicate: shop\.items, insert of _id 2: PostgreSQL has no text with U\+0000 \(column t\)\n.*skip would leave it out.*\n$/,
      );
      expect((await readPostgres(server, address)).get('shop.items')).toEqual([{ _id: 1n }]);
      // It goes on where it stopped, and stops there again.
      const again = await replicateInto(address, file);
      expect(again.code).toBe(1);
      expect(again.stdout).toContain('Already applied by an earlier run: 1');
    });

    test('--on-error skip: logs it, and goes on', async () => {
      const address = await server.newDatabase();
      const log = join(folder, 'skipped.jsonl');
      const { code, stdout } = await replicateInto(
        address,
        capture(nul),
        '--on-error',
        'skip',
        '--skip-log',
        log,
      );
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /1 × change that the sink refuses, skipped; first: shop\.items, insert of _id 2/,
      );
      expect((await readPostgres(server, address)).get('shop.items')).toEqual([{ _id: 1n }, { _id: 3n }]);
      const entries = readFileSync(log, 'utf8').trimEnd().split('\n').map(JSON.parse);
      expect(entries).toEqual([
        {
          time: expect.stringMatching(/^\d{4}-.*Z$/),
          operation: 'insert',
          namespace: 'shop.items',
          key: '120200000000000000',
          reason: expect.stringContaining('U+0000'),
          row: { _id: 2, t: 'a\0b' },
        },
      ]);
    });

    /** A replica whose owner has added a constraint. */
    async function constrained(sql) {
      const address = await server.newDatabase();
      await withSink(address, (sink) => sink.apply([put({ _id: 0n, n: 0n, t: 'x' }, 0)], null));
      await server.query(address, sql);
      return address;
    }

    test('a constraint: what was before the row is kept with --on-error stop', async () => {
      const address = await constrained('ALTER TABLE "db.coll" ADD CHECK (n < 10)');
      await withSink(address, async (sink) => {
        const changes = [1n, 2n, 30n, 4n, 50n].map((n, i) => put({ _id: n, n }, i + 1));
        const error = await sink.apply(changes, { source: 's', position: 'p' }).catch((reason) => reason);
        expect(error).toBeInstanceOf(RefusedError);
        expect(error.index).toBe(2);
        expect(error.message).toMatch(
          /db\.coll, insert of _id 30: PostgreSQL refuses it: .*check constraint/,
        );
        expect(await sink.readPosition('s')).toBeNull();
        await sink.apply([put({ _id: 5n, n: 5n, more: 1.5 }, 5)], { source: 's', position: 'q' });
      });
      expect((await readPostgres(server, address)).get('db.coll')).toHaveLength(2);
    });

    test('a constraint in a long run, which goes in several statements: nothing of it is stored', async () => {
      const address = await constrained('ALTER TABLE "db.coll" ADD CHECK (n <> 730)');
      await withSink(address, async (sink) => {
        const changes = Array.from({ length: 1000 }, (_, i) => put({ _id: BigInt(i), n: BigInt(i) }, i));
        const error = await sink.apply(changes, { source: 's', position: 'p' }).catch((reason) => reason);
        expect(error).toBeInstanceOf(RefusedError);
        expect(error.index).toBe(730);
        expect(await sink.readPosition('s')).toBeNull();
        expect((await readPostgres(server, address)).get('db.coll')).toHaveLength(1);
        await sink.apply(changes.slice(0, 730), { source: 's', position: 'q' });
      });
      expect((await readPostgres(server, address)).get('db.coll')).toHaveLength(730);
    });

    test.each([
      ['a check', 'ALTER TABLE "db.coll" ADD CHECK (n < 10)'],
      ['one that waits for the end of the transaction', deferredCheck()],
    ])('%s: the others are stored with --on-error skip', async (_name, sql) => {
      const address = await constrained(sql);
      const refused = [];
      await withSink(
        address,
        async (sink) => {
          const changes = [1n, 2n, 30n, 4n, 50n].map((n, i) => put({ _id: n, n, [`c${n}`]: 1n }, i + 1));
          changes.push({ ...put({}, 1), kind: 'remove', operation: 'delete' });
          await sink.apply(changes, { source: 's', position: 'p' });
          expect(await sink.readPosition('s')).toBe('p');
        },
        { onRefused: (change) => refused.push(change.row.n) },
      );
      expect(refused).toEqual([30n, 50n]);
      const stored = (await readPostgres(server, address)).get('db.coll');
      expect(stored.map(({ n }) => n)).toEqual([0n, 2n, 4n]);
    });

    function deferredCheck() {
      return `
        CREATE FUNCTION small() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF NEW.n >= 10 THEN RAISE EXCEPTION 'too large'; END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER small AFTER INSERT OR UPDATE ON "db.coll"
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION small();
      `;
    }

    test('a table that a view depends on cannot be dropped', async () => {
      const address = await constrained('CREATE VIEW v AS SELECT n FROM "db.coll"');
      const drop = { kind: 'drop', operation: 'drop', namespace: 'db.coll' };
      await withSink(address, async (sink) => {
        await expect(sink.apply([put({ n: 1n }), drop], null)).rejects.toThrow(
          /db\.coll, drop: PostgreSQL refuses it: cannot drop table .*depend/,
        );
        await sink.apply([put({ n: 2n }, 2)], null);
      });
      expect((await readPostgres(server, address)).get('db.coll')).toHaveLength(2);
    });

    test('characters that the encoding of the database does not have', async () => {
      await server.query(
        server.address(),
        "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
      );
      await withSink(server.address('latin'), async (sink) => {
        await expect(sink.apply([put({ t: 'é' }, 1), put({ t: 'Ж' }, 2)], null)).rejects.toThrow(
          /db\.coll, insert of key 0200: PostgreSQL refuses it: .*LATIN1/,
        );
        await sink.apply([put({ t: 'é' }, 1)], null);
      });
      expect((await readPostgres(server, server.address('latin'))).get('db.coll')).toEqual([{ t: 'é' }]);
    });

    test('a right that is missing is no refusal of a row', async () => {
      const address = await server.newDatabase();
      await withSink(
        address,
        async (sink) => {
          await sink.apply([put({ n: 1n })], null);
          await server.query(address, 'ALTER TABLE "db.coll" RENAME TO elsewhere');
          await expect(sink.apply([put({ n: 2n }, 2)], null)).rejects.toThrow(/^PostgreSQL: relation/);
        },
        { onRefused: () => expect.fail('no row is refused') },
      );
    });
  });

  test('a server that cannot be reached, a database that is not there', async () => {
    const missingDatabase = await replicateInto(server.address('nowhere'), SAMPLE);
    expect(missingDatabase).toMatchObject({ code: 1, stderr: expect.stringContaining('"nowhere" does not') });
    const elsewhere = await replicateInto('postgres://x:secret@127.0.0.1:1/y', SAMPLE, '--retries', 2);
    expect(elsewhere.code).toBe(3);
    const reason = 'PostgreSQL cannot be reached: connect ECONNREFUSED 127.0.0.1:1';
    expect(elsewhere.stderr).toBe(
      `bsonrow-replicate: warning: ${reason}; trying again in 0.0 s (1 of 2)\n` +
        `bsonrow-replicate: warning: ${reason}; trying again in 0.0 s (2 of 2)\n` +
        `bsonrow-replicate: ${reason}; tried again 2 times\n`,
    );
  });

  test.each([
    [0, '127.0.0.1:1'],
    [1, '127.0.0.1:1; tried again 1 time'],
  ])('--retries %d: as many attempts after the first', async (retries, end) => {
    const args = [SAMPLE, '--retries', retries, '--retry-delay', 1];
    const { code, stderr } = await replicateInto('postgres://127.0.0.1:1/y', ...args);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^bsonrow-replicate: PostgreSQL cannot be reached: /m);
    expect(stderr.endsWith(`${end}\n`)).toBe(true);
  });

  test('what the client itself has against a server is not tried again', async () => {
    const plain = createServer((socket) => socket.once('data', () => socket.write('N')));
    await new Promise((resolve) => plain.listen(0, '127.0.0.1', resolve));
    try {
      const address = `postgres://127.0.0.1:${plain.address().port}/y?sslmode=verify-full`;
      const { code, stderr } = await replicateInto(address, SAMPLE);
      expect(stderr).toBe(
        'bsonrow-replicate: the PostgreSQL database cannot be opened: The server does not support SSL connections\n',
      );
      expect(code).toBe(1);
    } finally {
      plain.close();
    }
  });

  test('a password that is missing is called that', async () => {
    const message = (type, ...parts) => {
      const body = Buffer.concat(parts);
      const head = Buffer.from(`${type}\0\0\0\0`);
      head.writeInt32BE(4 + body.length, 1);
      return Buffer.concat([head, body]);
    };
    const SASL = Buffer.of(0, 0, 0, 10);
    const SASL_CONTINUE = Buffer.of(0, 0, 0, 11);
    const asking = createServer((socket) => {
      socket.once('data', () => {
        socket.write(message('R', SASL, Buffer.from('SCRAM-SHA-256\0\0')));
        socket.once('data', (first) => {
          const nonce = /r=([^,]+)$/.exec(first.toString())[1];
          socket.write(message('R', SASL_CONTINUE, Buffer.from(`r=${nonce}x,s=c2FsdA==,i=4096`)));
        });
      });
    });
    await new Promise((resolve) => asking.listen(0, '127.0.0.1', resolve));
    try {
      const address = `postgres://somebody@127.0.0.1:${asking.address().port}/y`;
      const { code, stderr } = await replicateInto(address, SAMPLE);
      expect(stderr).toBe(
        'bsonrow-replicate: the PostgreSQL database cannot be opened: the server asks for a password, which neither the ' +
          'address nor PGPASSWORD holds\n',
      );
      expect(code).toBe(1);
    } finally {
      asking.close();
    }
  });

  test('two replicators do not write to one schema', async () => {
    const address = await server.newDatabase();
    await withSink(address, async () => {
      await expect(withSink(address, () => {})).rejects.toThrow(SinkError);
    });
    await withSink(address, () => {});
  });

  test('statements do not pile up on the server', async () => {
    const address = await server.newDatabase();
    const session = async () => {
      const sql = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`;
      return (await server.query(address, sql, ['bsonrow-replicate']))[0][0];
    };
    const drop = { kind: 'drop', operation: 'drop', namespace: 'db.coll' };
    // The same statement twice in a batch is prepared; the table that comes after is another.
    const twice = [put({ n: 1n }), { ...put({}), kind: 'remove', operation: 'delete' }, put({ n: 2n })];
    await withSink(address, async (sink) => {
      await sink.apply([put({ n: 1n })], null);
      const before = await session();
      for (let i = 0; i < 22; i += 1) {
        await sink.apply(Array.from({ length: 50 }, () => [...twice, drop]).flat(), null);
      }
      await sink.apply([put({ n: 3n })], null);
      expect(await session()).not.toBe(before);
    });
    expect((await readPostgres(server, address)).get('db.coll')).toEqual([{ n: 3n }]);
  });
});

/** One operation: what becomes of the truth, and the change that a source would make of it. */
function follow(truth, { name, coll, key: number, row }) {
  const namespace = `db.${coll}`;
  const key = number === undefined ? undefined : Buffer.of(number);
  if (name === 'insert' || name === 'update') {
    if (!truth.get(namespace)) truth.set(namespace, new Map());
    truth.get(namespace).set(number, storedRow(row));
    return { kind: 'put', operation: name, namespace, key, row };
  }
  if (name === 'delete') {
    truth.get(namespace)?.delete(number);
    return { kind: 'remove', operation: name, namespace, key };
  }
  const rows = truth.get(namespace);
  truth.delete(namespace);
  if (name === 'drop') return { kind: 'drop', operation: name, namespace };
  const to = coll === 'p' ? 'db.q' : 'db.p';
  truth.delete(to);
  if (rows !== undefined) truth.set(to, rows);
  return { kind: 'rename', operation: name, namespace, to };
}

const storedRow = (row) =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, storedValue(value)]),
  );

function storedValue(value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'bigint' && BigInt.asIntN(64, value) !== value ? String(value) : value;
}
