// Snapshot and change stream against the replay server: what is asked of it, and what becomes of the rows.

import { join } from 'node:path';
import { deserialize, Long, ObjectId, serialize, Timestamp } from 'bson';
import { describe, expect, test } from 'vitest';
import { event, put, remove } from '../support/captures.mjs';
import { DRIVERS, replicateLive, startReplay } from '../support/live.mjs';
import { makeFolder, query, readReplica, sortRows } from '../support/replica.mjs';
import { meanwhile } from '../support/servers/faults.mjs';

const folder = makeFolder();
let files = 0;
function nextFile() {
  files += 1;
  return join(folder, `${files}.sqlite`);
}

const bsonOf = (document) => Buffer.from(serialize(document));
const numbered = (count) => Array.from({ length: count }, (_, n) => bsonOf({ _id: n, n: `number ${n}` }));
const rowsOf = (file, namespace = 'shop.items') => readReplica(file).get(namespace);
const positionIn = (file) => JSON.parse(query(file, 'SELECT position FROM _bsonrow_progress')[0][0]);
const tokenOf = (bytes) => deserialize(bytes)._id._data;

/** The command that opened the change stream the rows came from; the first only looked for its beginning. */
const streamsOf = (server) =>
  server.received('aggregate').filter(({ cursor }) => Number(cursor.batchSize) > 0);

describe.each(DRIVERS)('with %s', (_name, driver) => {
  const replicate = (...args) => replicateLive(driver, ...args);

  test('snapshot, then the stream from where the snapshot began', async () => {
    const { server, uri } = await startReplay({
      collections: { 'shop.items': numbered(10), 'shop.others': numbered(2), 'else.where': numbered(5) },
      events: [put({ _id: 1, n: 'before the snapshot, must not come' })],
    });
    // Between the parts of the snapshot: one that is read already, one that is not yet, one read and then gone.
    server.fail(
      'getMore',
      meanwhile(() => server.addEvents(put({ _id: 0, n: 'new' }), put({ _id: 9, n: 'new' }), remove(2))),
    );
    const file = nextFile();
    const { code, stdout, stderr } = await replicate(`${uri}/shop`, '--into', file, '--batch-size', 4);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toContain('15 documents (12 document, 2 insert, 1 delete)');
    expect(
      rowsOf(file)
        .map(({ _id, n }) => [Number(_id), n])
        .sort((a, b) => a[0] - b[0]),
    ).toEqual([[0, 'new'], ...[1, 3, 4, 5, 6, 7, 8].map((n) => [n, `number ${n}`]), [9, 'new']]);
    expect([...readReplica(file).keys()]).toEqual(['shop.items', 'shop.others']);
    expect(server.openCursors).toBe(0);
  });

  test('the commands are those of the service', async () => {
    const { server, uri } = await startReplay({ collections: { 'shop.items': numbered(5) } });
    await replicate(`${uri}/shop`, '--into', nextFile(), '--batch-size', 2);
    const [found] = server.received('find');
    expect(found).toMatchObject({
      find: 'items',
      $db: 'shop',
      filter: {},
      readConcern: { level: 'majority' },
    });
    expect(found.sort).toEqual({ _id: expect.objectContaining({ value: 1 }) });
    expect(Number(found.batchSize)).toBe(2);
    const [stream] = streamsOf(server);
    expect(Number(stream.aggregate)).toBe(1);
    expect(stream.pipeline[0].$changeStream).toEqual({
      fullDocument: 'updateLookup',
      resumeAfter: { _data: 'end:0' },
    });
    expect(stream.pipeline[1].$match.$or).toContainEqual({ 'ns.db': 'shop' });
    expect(stream.pipeline.at(-1)).toEqual({ $changeStreamSplitLargeEvent: {} });
    const more = server.received('getMore').at(-1);
    expect(Number(more.batchSize)).toBe(2);
    expect(Number(more.maxTimeMS)).toBe(20);
    // One session for all of them, or the server refuses the getMore.
    const sessions = [found, stream, ...server.received('getMore')].map(({ lsid }) =>
      lsid.id.toString('hex'),
    );
    expect(new Set(sessions).size).toBe(1);
    for (const { cursors } of server.received('killCursors')) expect(cursors[0]).toBeInstanceOf(Long);
  });

  test('a server before version 7 is not asked to split events', async () => {
    const { server, uri } = await startReplay({ version: [6, 0, 19] });
    await replicate(`${uri}/shop`, '--into', nextFile());
    expect(JSON.stringify(streamsOf(server))).not.toContain('SplitLargeEvent');
  });

  test('the next run goes on: no second snapshot, from the last token', async () => {
    const { server, uri } = await startReplay({ collections: { 'shop.items': numbered(3) } });
    const file = nextFile();
    server.fail(
      'getMore',
      meanwhile(() => server.addEvents(put({ _id: 10 }), put({ _id: 11 }))),
    );
    await replicate(`${uri}/shop`, '--into', file);
    server.commands.length = 0;
    server.addEvents(remove(10));
    const { code, stdout } = await replicate(`${uri}/shop`, '--into', file);
    expect(code).toBe(0);
    expect(stdout).toContain('Read: 1 document (1 delete)');
    expect(server.received('find')).toEqual([]);
    expect(streamsOf(server)[0].pipeline[0].$changeStream.resumeAfter).toEqual({ _data: 'end:2' });
    expect(rowsOf(file).map(({ _id }) => Number(_id))).toEqual([0, 1, 2, 11]);
  });

  test('a snapshot that ended early goes on behind the last document stored', async () => {
    const documents = [1, Long.fromNumber(2), 2.5, 'a', 'b', { x: 1 }, new ObjectId(), true, new Date(5)].map(
      (_id) => bsonOf({ _id, t: typeof _id }),
    );
    const { server, uri } = await startReplay({ collections: { 'shop.items': documents } });
    const file = nextFile();
    for (let runs = 0; runs < documents.length + 1; runs += 1) {
      server.commands.length = 0;
      const { code } = await replicate(`${uri}/shop`, '--into', file, '--limit', 1, '--batch-size', 2);
      expect(code).toBe(0);
      if (runs > 0 && runs < documents.length) {
        const { filter } = server.received('find')[0];
        const last = deserialize(documents[runs - 1], { promoteValues: false })._id;
        expect(bsonOf(filter)).toEqual(bsonOf({ $expr: { $gt: ['$_id', { $literal: last }] } }));
      }
    }
    expect(rowsOf(file)).toHaveLength(documents.length);
    expect(positionIn(file).pending).toEqual([]);
  });

  test('the token of an empty reply is stored, too', async () => {
    const { uri } = await startReplay({ events: [put({ _id: 1 }), put({ _id: 2 })] });
    const file = nextFile();
    await replicate(`${uri}/shop`, '--into', file, '--start-at', '1:1');
    expect(positionIn(file).start).toEqual({ resumeAfter: { _data: 'end:2' } });
  });

  test('an event that was split is applied whole, and never resumed in its middle', async () => {
    const document = { _id: 7, large: 'x'.repeat(1000) };
    const part = (fragment, fields) =>
      event('update', {
        splitEvent: { fragment, of: 3 },
        ns: undefined,
        operationType: undefined,
        ...fields,
      });
    const fragments = [
      part(1, { operationType: 'update', ns: { db: 'shop', coll: 'items' }, documentKey: { _id: 7 } }),
      part(2, { updateDescription: { updatedFields: { large: 1 } } }),
      part(3, { fullDocument: document }),
    ];
    const { server, uri } = await startReplay();
    const file = nextFile();
    const args = [`${uri}/shop`, '--into', file];
    await replicate(...args);
    server.addEvents(fragments[0], fragments[1]);
    expect((await replicate(...args)).code).toBe(0);
    expect(readReplica(file).size).toBe(0);
    expect(positionIn(file).start).toEqual({ resumeAfter: { _data: 'end:0' } });
    server.addEvents(fragments[2], put({ _id: 8 }));
    // Fragments come in different replies as well.
    const { code, stdout } = await replicate(...args, '--batch-size', 2);
    expect(code).toBe(0);
    expect(stdout).toContain('Read: 2 documents (1 update, 1 insert)');
    expect(rowsOf(file)).toEqual([{ _id: 7n, large: document.large }, { _id: 8n }]);
  });

  test('a fragment that is missing ends the run, or is skipped with its event', async () => {
    const { uri } = await startReplay({
      events: [event('update', { splitEvent: { fragment: 1, of: 2 } }), put({ _id: 8 })],
    });
    const file = nextFile();
    const args = [`${uri}/shop`, '--into', file, '--start-at', 1];
    const { code, stderr } = await replicate(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /shop: shop\.items: byte \d+: Split event: fragment 2 of 2 is missing, a whole event came instead\n.*skip would leave it out.*\n$/,
    );
    const skipped = await replicate(...args, '--on-error', 'skip');
    expect(skipped.code).toBe(0);
    expect(skipped.stdout).toContain('1 × document that cannot be converted, skipped');
    expect(rowsOf(file)).toEqual([{ _id: 8n }]);
  });

  describe('a fragment that is damaged, skipped', () => {
    const part = (n) =>
      event('update', {
        splitEvent: { fragment: n, of: 3 },
        ...(n === 3 ? { documentKey: { _id: 7 }, fullDocument: { _id: 7 } } : { operationType: undefined }),
        note: 'text',
      });
    const damaged = (bytes) => {
      const copy = Buffer.from(bytes);
      copy.writeInt32LE(4000, copy.lastIndexOf('note\0') + 5);
      return copy;
    };

    test.each([
      [1, [1]],
      [2, [1, 2]],
      [3, [1, 2, 3]],
    ])('%i of 3: its event is left out, and the position never stands within it', async (number, before) => {
      const parts = [1, 2, 3].map((n) => (n === number ? damaged(part(n)) : part(n)));
      const { server, uri } = await startReplay();
      const file = nextFile();
      const args = [`${uri}/shop`, '--into', file, '--on-error', 'skip', '--batch-size', 1];
      await replicate(...args);
      server.addEvents(put({ _id: 1 }), ...parts.slice(0, before.length));
      const first = await replicate(...args);
      expect(first.code).toBe(0);
      expect(first.stdout).toContain('1 × document that cannot be converted, skipped');
      const { start } = positionIn(file);
      // Behind a first or last fragment that cannot be read at all, the server's own token counts.
      if (number === 2) expect(start.resumeAfter).toEqual({ _data: tokenOf(server.events[0]) });
      server.addEvents(...parts.slice(before.length), put({ _id: 9 }));
      const second = await replicate(...args);
      expect(second.code).toBe(0);
      expect(rowsOf(file)).toEqual([{ _id: 1n }, { _id: 9n }]);
      expect((await replicate(...args)).stdout).toContain('Read: 0 documents');
    });

    test('in one reply: reported once', async () => {
      const { uri } = await startReplay({
        events: [put({ _id: 1 }), part(1), damaged(part(2)), part(3), put({ _id: 9 })],
      });
      const file = nextFile();
      const { code, stdout } = await replicate(
        `${uri}/shop`,
        '--into',
        file,
        '--start-at',
        1,
        '--on-error',
        'skip',
      );
      expect(code).toBe(0);
      expect(stdout).toContain('1 × document that cannot be converted, skipped');
      expect(stdout).toContain('Read: 3 documents (2 insert)');
      expect(rowsOf(file)).toEqual([{ _id: 1n }, { _id: 9n }]);
    });
  });

  test('updates: with a document, without one, without the field', async () => {
    const update = (_id, fields) => event('update', { documentKey: { _id }, ...fields });
    const { uri } = await startReplay({
      collections: { 'shop.items': numbered(3) },
      events: [
        update(0, { fullDocument: { _id: 0, a: 1 } }),
        update(1, { fullDocument: null }),
        update(2, {}),
      ],
    });
    const file = nextFile();
    const { stdout } = await replicate(`${uri}/shop`, '--into', file, '--start-at', '1');
    const rows = [
      { _id: 2n, n: 'number 2' },
      { _id: 0n, a: 1n },
    ];
    expect(sortRows(rowsOf(file))).toEqual(sortRows(rows));
    expect(stdout).toMatch(/1 × update without fullDocument.*; first: update of shop\.items, _id 2\n/);
  });

  test('after invalidate the stream is opened behind it', async () => {
    const end = event('invalidate', { ns: undefined });
    const { server, uri } = await startReplay({ events: [put({ _id: 1 }), end, put({ _id: 2 })] });
    const file = nextFile();
    const args = [`${uri}/shop`, '--into', file, '--start-at', '1'];
    // The run ends with it, and the next begins behind it.
    await replicate(...args, '--limit', 2);
    expect(positionIn(file).start).toEqual({ startAfter: { _data: tokenOf(end) } });
    server.commands.length = 0;
    await replicate(...args);
    expect(streamsOf(server)[0].pipeline[0].$changeStream.startAfter).toEqual({ _data: tokenOf(end) });
    expect(rowsOf(file)).toHaveLength(2);
    // Both in one run.
    const other = nextFile();
    expect((await replicate(`${uri}/shop`, '--into', other, '--start-at', '1')).code).toBe(0);
    expect(rowsOf(other)).toHaveLength(2);
  });

  describe('a collection that is renamed', () => {
    const rename = (from, to, time) =>
      event('rename', { ns: { db: 'shop', coll: from }, to: { db: 'shop', coll: to }, clusterTime: time });
    const time = (t) => new Timestamp({ t, i: 1 });
    const timed = (document, t) =>
      event('insert', { clusterTime: time(t), documentKey: { _id: document._id }, fullDocument: document });

    test('into the selection: its documents are read', async () => {
      const { server, uri } = await startReplay({ collections: { 'shop.items': [] } });
      const file = nextFile();
      const args = [`${uri}/shop`, '--into', file, '--collection', 'shop.items'];
      await replicate(...args);
      server.setCollection('shop.items', numbered(3));
      server.addEvents(rename('unknown', 'items', time(10)), put({ _id: 1, n: 'later' }));
      const { code, stdout } = await replicate(...args);
      expect(code).toBe(0);
      expect(stdout).toContain('(3 document, 1 rename, 1 insert)');
      expect(sortRows(rowsOf(file))).toEqual(
        sortRows([
          { _id: 0n, n: 'number 0' },
          { _id: 1n, n: 'later' },
          { _id: 2n, n: 'number 2' },
        ]),
      );
    });

    test('while the snapshot went on: its documents are read under the new name', async () => {
      const { server, uri } = await startReplay({
        collections: { 'shop.items': numbered(6) },
        events: [timed({ _id: 99 }, 5)],
      });
      server.fail(
        'getMore',
        meanwhile(() => {
          server.setCollection('shop.renamed', numbered(6));
          server.setCollection('shop.items', []);
          server.addEvents(rename('items', 'renamed', time(6)));
        }),
      );
      const file = nextFile();
      const { code } = await replicate(`${uri}/shop`, '--into', file, '--batch-size', 2);
      expect(code).toBe(0);
      expect([...readReplica(file).keys()]).toEqual(['shop.renamed']);
      expect(sortRows(rowsOf(file, 'shop.renamed'))).toEqual(
        sortRows(Array.from({ length: 6 }, (_, n) => ({ _id: BigInt(n), n: `number ${n}` }))),
      );
    });

    test('afterwards: no document is read', async () => {
      const { server, uri } = await startReplay({
        collections: { 'shop.items': numbered(2) },
        events: [timed({ _id: 99 }, 5)],
      });
      const file = nextFile();
      await replicate(`${uri}/shop`, '--into', file);
      server.commands.length = 0;
      server.addEvents(rename('items', 'renamed', time(9)));
      await replicate(`${uri}/shop`, '--into', file);
      expect(server.received('find')).toEqual([]);
      expect(rowsOf(file, 'shop.renamed')).toHaveLength(2);
    });
  });
});
