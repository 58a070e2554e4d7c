// The memory of a run is bounded, whatever the length of its input: what the sink has not stored yet is not read.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { ObjectId, serialize } from 'bson';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../lib/apply.mjs';
import { put } from './support/captures.mjs';
import { startReplay } from './support/live.mjs';
import { startPostgres } from './support/postgres.mjs';
import { makeFolder, query } from './support/replica.mjs';

const MIB = 1024 * 1024;
const MAX_PEAK_MIB = 300;
/** What waits in the pipe, in the reader's chunk, and in the writer's own buffer. */
const MAX_ON_THE_WAY = 2 * MIB;

const { server, missing } = await startPostgres();
const folder = makeFolder();
let pipes = 0;

/** Events of about `size` bytes, each with an `_id` of its own, without end. */
function* events(size) {
  const document = { _id: new ObjectId(), name: 'é'.repeat(20), price: 1.5, tags: ['a', 'b'], text: '' };
  document.text = 'x'.repeat(size);
  const template = Buffer.from(
    serialize({
      _id: { _data: 'token' },
      operationType: 'insert',
      ns: { db: 'shop', coll: 'items' },
      documentKey: { _id: document._id },
      fullDocument: document,
    }),
  );
  const places = [...template.toString('latin1').matchAll(/_id\0/g)]
    .map(({ index }) => index + 4)
    .filter((at) => template.subarray(at, at + 12).equals(document._id.id));
  for (let number = 0; ; number += 1) {
    const event = Buffer.from(template);
    for (const at of places) event.writeUInt32BE(number, at);
    yield event;
  }
}

/** Streams so many bytes of events into a run; how far the reading was ahead of the sink, and the memory it took. */
async function runOver(totalBytes, eventBytes, address) {
  pipes += 1;
  const pipe = join(folder, `pipe-${pipes}`);
  execFileSync('mkfifo', [pipe]);
  const child = fork(new URL('support/memory-run.mjs', import.meta.url), [pipe, address], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let written = 0;
  let mostAhead = 0;
  let result = null;
  child.on('message', (message) => {
    if ('stored' in message) mostAhead = Math.max(mostAhead, written - message.stored);
    else result = message;
  });
  const ended = once(child, 'exit');
  const output = createWriteStream(pipe);
  let count = 0;
  for (const event of events(eventBytes)) {
    if (written >= totalBytes) break;
    count += 1;
    written += event.length;
    if (!output.write(event)) await once(output, 'drain');
  }
  output.end();
  const [code] = await ended;
  expect(code).toBe(0);
  expect(result.documents).toBe(count);
  return { mostAhead, peakMiB: result.peakMiB };
}

describe('a stream that is longer than the memory', () => {
  test.each([
    ['many small events', 100 * MIB, 500],
    ['fewer large ones', 1000 * MIB, 60_000],
  ])('%s, and a slow sink', { timeout: 120_000 }, async (_name, totalBytes, eventBytes) => {
    const { mostAhead, peakMiB } = await runOver(totalBytes, eventBytes, 'slow');
    console.log(
      `memory, ${_name}: peak ${Math.round(peakMiB)} MiB, at most ${Math.round(mostAhead / MIB)} MiB ahead`,
    );
    expect(peakMiB).toBeLessThan(MAX_PEAK_MIB);
    expect(mostAhead).toBeLessThan(DEFAULT_LIMITS.bytes + MAX_ON_THE_WAY);
  });

  test.each([
    ['many small events', 60 * MIB, 500],
    ['large ones', 200 * MIB, 100_000],
    ['very large ones', 200 * MIB, 15 * MIB],
  ])('%s into SQLite', { timeout: 120_000 }, async (name, totalBytes, eventBytes) => {
    const { peakMiB } = await runOver(totalBytes, eventBytes, join(folder, `${pipes}.sqlite`));
    console.log(`memory, ${name} into SQLite: peak ${Math.round(peakMiB)} MiB`);
    expect(peakMiB).toBeLessThan(MAX_PEAK_MIB);
  });

  describe.skipIf(server === null)(`PostgreSQL ${missing}`, () => {
    test.each([
      ['many small events', 60 * MIB, 500],
      ['large ones', 200 * MIB, 100_000],
      ['very large ones', 200 * MIB, 15 * MIB],
    ])('%s', { timeout: 120_000 }, async (name, totalBytes, eventBytes) => {
      const { peakMiB } = await runOver(totalBytes, eventBytes, await server.newDatabase());
      console.log(`memory, ${name} into PostgreSQL: peak ${Math.round(peakMiB)} MiB`);
      expect(peakMiB).toBeLessThan(MAX_PEAK_MIB);
    });
  });
});

describe('a live source of documents of 15 MiB', () => {
  const text = 'x'.repeat(15 * MIB);
  const count = 8;

  /** A snapshot and as many events; the memory that it took. */
  async function follow(into) {
    const { uri } = await startReplay({
      collections: {
        'shop.items': Array.from({ length: count }, (_, _id) => Buffer.from(serialize({ _id, text }))),
      },
      events: Array.from({ length: count }, (_, n) => put({ _id: count + n, text })),
    });
    const args = [`${uri}/shop`, '--into', into, '--start-at', '1', '--quiet'];
    args.push('--until-caught-up', '0.2', '--max-time-ms', '50');
    const child = fork(new URL('support/memory-command.mjs', import.meta.url), args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit');
    const [{ code, peakMiB }] = await once(child, 'message');
    await ended;
    expect(code).toBe(0);
    return peakMiB;
  }

  test('into SQLite', { timeout: 120_000 }, async () => {
    const file = join(folder, 'live.sqlite');
    const peakMiB = await follow(file);
    console.log(`memory, live into SQLite: peak ${Math.round(peakMiB)} MiB`);
    expect(query(file, 'SELECT count(*), min(length(text)) FROM "shop.items"')).toEqual([
      [BigInt(2 * count), BigInt(text.length)],
    ]);
    expect(peakMiB).toBeLessThan(MAX_PEAK_MIB);
  });

  test.skipIf(server === null)(`into PostgreSQL ${missing}`, { timeout: 120_000 }, async () => {
    const address = await server.newDatabase();
    const peakMiB = await follow(address);
    console.log(`memory, live into PostgreSQL: peak ${Math.round(peakMiB)} MiB`);
    const rows = await server.query(address, 'SELECT count(*), min(length(text)) FROM "shop.items"');
    expect(rows).toEqual([[String(2 * count), text.length]]);
    expect(peakMiB).toBeLessThan(MAX_PEAK_MIB);
  });
});
