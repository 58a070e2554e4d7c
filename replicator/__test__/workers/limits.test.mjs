// A sink that is slow, a sink that refuses, and a run that another has taken over.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../lib/apply.mjs';
import { SqliteSink } from '../../lib/sink/sqlite.mjs';
import { SLOTS } from '../../lib/workers/spool.mjs';
import { put, remove, writeBson } from '../support/captures.mjs';
import { startCommand } from '../support/command.mjs';
import { startPostgres } from '../support/postgres.mjs';
import { makeFolder, query, readReplica, replicate } from '../support/replica.mjs';
import { childrenOf, peakMiBOf, progressOf } from '../support/workers.mjs';

const MIB = 1024 * 1024;
const MAX_PEAK_MIB = 300;
/** What waits in the pipe, in the reader's chunk, and in the writer's own buffer. */
const MAX_ON_THE_WAY = 2 * MIB;
const EVENT_BYTES = 60_000;
const EVENTS = 2500;

const { server, missing } = await startPostgres();
const folder = makeFolder();

describe.skipIf(process.platform !== 'linux')('a sink that does not take anything for a while', () => {
  test.each([
    ['2', 'messagepack'],
    ['3', 'messagepack'],
    ['2', 'json'],
  ])('%s workers, %s: reading waits', { timeout: 120_000 }, async (workers, format) => {
    const [pipe, file] = ['pipe', 'sqlite'].map((kind) => join(folder, `slow-${workers}-${format}.${kind}`));
    execFileSync('mkfifo', [pipe]);
    const run = startCommand([
      pipe,
      '--into',
      file,
      '--format',
      'events',
      '--workers',
      workers,
      '--messages',
      format,
    ]);
    const output = createWriteStream(pipe);
    let written = 0;
    let lock = null;
    let taken = 0;
    const peaks = new Map();
    const text = 'x'.repeat(EVENT_BYTES);
    for (let number = 0; number < EVENTS; number += 1) {
      const bytes = put({ _id: number, text }, { ns: { db: 'shop', coll: number % 2 ? 'orders' : 'log' } });
      written += bytes.length;
      if (number === 200) {
        // From here on the file is locked, until nothing has been read for a while.
        lock = new Database(file);
        lock.pragma('busy_timeout = 10000');
        lock.exec('BEGIN IMMEDIATE');
        taken = written;
      }
      if (output.write(bytes)) continue;
      const drained = once(output, 'drain');
      if (lock !== null && (await Promise.race([drained, sleep(1500, 'waits')])) === 'waits') {
        taken = written - taken;
        lock.exec('COMMIT');
        lock.close();
        lock = null;
      }
      await drained;
      for (const pid of [run.child.pid, ...childrenOf(run.child.pid)]) peaks.set(pid, peakMiBOf(pid));
    }
    expect(lock).toBeNull();
    output.end();
    const { code, stderr } = await run.ended;
    expect(stderr).not.toContain('warning');
    expect(code, stderr).toBe(0);
    expect(
      query(file, 'SELECT (SELECT count(*) FROM "shop.orders") + (SELECT count(*) FROM "shop.log")'),
    ).toEqual([[BigInt(EVENTS)]]);
    // Batches on their way and the one that is collected; what is in the pipe.
    expect(taken).toBeLessThan((SLOTS + 1) * DEFAULT_LIMITS.bytes + MAX_ON_THE_WAY);
    expect(peaks.size).toBe(Number(workers));
    for (const peak of peaks.values()) expect(peak).toBeLessThan(MAX_PEAK_MIB);
    console.log(
      `slow sink, ${workers} workers, ${format}: ${Math.round(taken / MIB)} MiB taken; peaks ${[...peaks.values()].map(Math.round).join(', ')} MiB`,
    );
  });
});

describe('a change that the sink refuses', () => {
  const events = [
    put({ _id: 1, code: 'a' }),
    put({ _id: 2, code: 'b' }),
    put({ _id: 3, code: 'a' }),
    remove(1),
    put({ _id: 4, code: 'c' }),
  ];
  // Of three, the other process has nothing to store, and so no entry that would be further than the beginning.
  test.each([
    ['1', 2],
    ['2', 2],
    ['3', 0],
  ])(
    '%s workers: what came before it is stored, once, and the run goes on there',
    async (workers, passed) => {
      const capture = writeBson(folder, 'refused.bson', events);
      const file = join(folder, `refused-${workers}.sqlite`);
      const first = writeBson(folder, 'first.bson', [put({ _id: 0, code: 'z' }), remove(0)]);
      expect((await replicate(first, '--into', file)).code).toBe(0);
      const db = new Database(file);
      db.exec('CREATE UNIQUE INDEX one ON "shop.items" (code)');
      db.exec('CREATE TABLE stored (id)');
      for (const operation of ['INSERT', 'UPDATE'])
        db.exec(
          `CREATE TRIGGER on_${operation} AFTER ${operation} ON "shop.items" BEGIN INSERT INTO stored VALUES (NEW._id); END`,
        );
      const args = [capture, '--into', file, '--workers', workers];
      const { code, stderr } = await replicate(...args);
      expect(stderr).toBe(
        'bsonrow-replicate: shop.items, insert of _id 3: the SQLite file refuses it: UNIQUE constraint failed: shop.items.code\n' +
          'bsonrow-replicate: --on-error skip would leave it out and go on\n',
      );
      expect(code).toBe(1);
      expect(readReplica(file).get('shop.items')).toEqual([
        { _id: 1n, code: 'a' },
        { _id: 2n, code: 'b' },
      ]);
      db.exec('DROP INDEX one');
      db.close();
      const next = await replicate(...args);
      expect(next.stdout).toContain(`Read: ${events.length - passed} documents`);
      expect(query(file, 'SELECT id FROM stored')).toEqual([[1n], [2n], [3n], [4n]]);
      expect(readReplica(file).get('shop.items')).toEqual([
        { _id: 2n, code: 'b' },
        { _id: 3n, code: 'a' },
        { _id: 4n, code: 'c' },
      ]);
    },
  );

  test.skipIf(server === null)(
    `skipped, it is in the log: PostgreSQL ${missing}`,
    { timeout: 30_000 },
    async () => {
      const capture = writeBson(folder, 'nul.bson', [
        put({ _id: 1 }),
        put({ _id: 2, text: 'a\0b', n: 5 }),
        put({ _id: 3 }),
      ]);
      const entries = [];
      for (const workers of ['1', '2', '3']) {
        const log = join(folder, `nul-${workers}.jsonl`);
        const args = [
          '--into',
          await server.newDatabase(),
          '--on-error',
          'skip',
          '--skip-log',
          log,
          '--workers',
          workers,
        ];
        const { code, stdout } = await replicate(capture, ...args);
        expect(code).toBe(0);
        expect(stdout).toContain(
          '1 × change that the sink refuses, skipped; first: shop.items, insert of _id 2: ',
        );
        entries.push(readFileSync(log, 'utf8').replace(/"time":"[^"]*"/, ''));
      }
      expect(entries[0]).toContain('"row":{"_id":2,"text":"a\\u0000b","n":5}');
      expect(entries.slice(1)).toEqual([entries[0], entries[0]]);
    },
  );

  test('a sink that cannot be opened', async () => {
    const capture = writeBson(folder, 'any.bson', [put({ _id: 1 })]);
    const args = [capture, '--into', join(folder, 'nowhere/x.sqlite')];
    const alone = await replicate(...args);
    expect(alone.code).toBe(1);
    expect(await replicate(...args, '--workers', '3')).toEqual(alone);
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  });
});

test('what outlives its run writes nothing more once another run has begun', async () => {
  const file = join(folder, 'claimed.sqlite');
  const options = { onWarning: () => {} };
  const [before, after] = [new SqliteSink(file, options), new SqliteSink(file, options)];
  const change = { kind: 'put', operation: 'insert', namespace: 'a.b', key: Buffer.of(1), row: { _id: 1n } };
  const claim = { name: 's run', run: 'one' };
  await before.claim('s', 'one');
  await before.apply([change], { source: 's', position: '1', claim });
  expect(await after.claim('s', 'two')).toEqual(
    new Map([
      ['s', '1'],
      ['s run', 'two'],
    ]),
  );
  await expect(
    before.apply([{ ...change, key: Buffer.of(2) }], { source: 's', position: '2', claim }),
  ).rejects.toThrow('another run has taken over what this one was applying');
  expect(await after.readPosition('s')).toBe('1');
  expect(query(file, 'SELECT count(*) FROM "a.b"')).toEqual([[1n]]);
  await before.close();
  await after.close();
  expect(progressOf(file)).toEqual([['s', '1']]);
});
