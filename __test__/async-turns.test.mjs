/** Batches on other threads and the event loop: their order, its turns meanwhile, and what a signal ends. */
import { getEventListeners } from 'node:events';
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter } from '../index.js';
import { document, element, int, string, Type } from './support/bson-bytes.mjs';
import { expectSame } from './support/outcome.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { runScript } from './support/run-script.mjs';

const require = createRequire(import.meta.url);
const bson = require('bson');
const { EARLY_CALLS } = require('../lib/allocation-sites.js');
const { buildersOf } = require('../lib/builders.js');
const native = require('../lib/native.js');

const listOf = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const makeDocument = (index) =>
  document([
    element(Type.OBJECT_ID, '_id', Buffer.alloc(12, index)),
    int('n', index),
    element(Type.DOCUMENT, 'o', document([string('text', `item ${index}`)])),
  ]);
const documentsOf = (count) => listOf(count, makeDocument);
const replyOf = (count) => cursorReply(batchOf(documentsOf(count)));

/** More than are made in one slice, however fast. */
const MANY = 120_000;
const large = replyOf(MANY);
const bad = document([int('_id', 1), element(0x66, 'x')]);
const converter = new NativeSourceRowConverter(1);

/** A converter, and how many identities it has made so far. */
function counting(onMade = () => {}) {
  const count = { made: 0 };
  let isCounting = false;
  class ObjectId extends bson.ObjectId {
    constructor(bytes) {
      super(bytes);
      if (!isCounting) return;
      count.made++;
      onMade(count.made);
    }
  }
  const by = new NativeSourceRowConverter(1, { bson: { ...bson, ObjectId } });
  // Until then some are made twice: see lib/allocation-sites.js.
  by.convertDocuments(documentsOf(EARLY_CALLS));
  isCounting = true;
  return { by, count };
}

/** Counts turns of the event loop until a promise is settled. */
async function turnsUntil(promise) {
  let settled = false;
  const end = promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  let turns = 0;
  while (!settled) {
    await turn();
    turns++;
  }
  await end;
  return turns;
}

const reasonOf = (promise) =>
  promise.then(
    () => expect.fail('it was not rejected'),
    (reason) => reason,
  );

describe('several batches at once', () => {
  it('are resolved in the order of the calls, though the first is the largest', async () => {
    const sizes = [20_000, 10_000, 3000, 100, 1, 0, 500, 1, 5000, 2];
    const order = [];
    const all = sizes.map(async (size, index) => {
      const results =
        index % 2 === 0
          ? (await converter.convertBatchAsync(replyOf(size))).documents
          : await converter.convertDocumentsAsync(documentsOf(size));
      order.push(index);
      expect(results.length).toBe(size);
      expect(results.at(-1)?.row.n).toBe(size === 0 ? undefined : BigInt(size - 1));
    });
    await Promise.all(all);
    expect(order).toEqual([...sizes.keys()]);
  });

  it('and those that are rejected in their place', async () => {
    const order = [];
    const note = (name) => () => order.push(name);
    await Promise.all([
      converter.convertBatchAsync(large).then(note('large')),
      converter.convertDocumentsAsync([bad]).catch(note('bad document')),
      converter.convertBatchAsync(Buffer.alloc(3)).catch(note('malformed')),
      converter.convertDocumentsAsync([makeDocument(1)]).then(note('small')),
      converter.convertDocumentsAsync([bad], { onError: 'return' }).then(note('returned')),
    ]);
    expect(order).toEqual(['large', 'bad document', 'malformed', 'small', 'returned']);
  });

  it('of several converters do not wait for each other', async () => {
    const order = [];
    await Promise.all([
      converter.convertBatchAsync(large).then(() => order.push('large')),
      new NativeSourceRowConverter(1)
        .convertDocumentsAsync([makeDocument(1)])
        .then(() => order.push('small')),
    ]);
    expect(order).toEqual(['small', 'large']);
  });

  it('hundreds of them, more than there are threads', async () => {
    const expected = converter.convertDocuments(documentsOf(50));
    const all = await Promise.all(listOf(400, () => converter.convertDocumentsAsync(documentsOf(50))));
    for (const results of all) expectSame(results, expected);
  });
});

describe('the event loop turns', () => {
  it('many times while a large batch is read and made', async () => {
    const { by, count } = counting();
    const promise = by.convertBatchAsync(large);
    expect(count.made).toBe(0);
    const madeByTurn = [];
    let batch;
    promise.then((value) => {
      batch = value;
    });
    while (batch === undefined) {
      await turn();
      madeByTurn.push(count.made);
    }
    expect(batch.documents.length).toBe(MANY);
    expect(count.made).toBe(MANY);
    // None while another thread reads, then slice by slice.
    expect(new Set(madeByTurn).size).toBeGreaterThan(3);
  });

  it('between batches that were all read before', async () => {
    const count = 100;
    const documents = documentsOf(10);
    const all = Promise.all(listOf(count, () => converter.convertDocumentsAsync(documents)));
    expect(await turnsUntil(all)).toBeGreaterThanOrEqual(count - 1);
    const each = Promise.all(
      listOf(count, () => new NativeSourceRowConverter(1).convertDocumentsAsync(documents)),
    );
    expect(await turnsUntil(each)).toBeGreaterThanOrEqual(count - 1);
  });

  it('so that a timer is not kept waiting for the whole batch', async () => {
    const order = [];
    await Promise.all([
      converter.convertBatchAsync(large).then(() => order.push('batch')),
      new Promise((resolve) => setTimeout(resolve, 1)).then(() => order.push('timer')),
    ]);
    expect(order).toEqual(['timer', 'batch']);
  });

  /** How many results there are after each piece that is made without a pause. */
  const piecesOf = (documents) =>
    new Promise((resolve) => {
      const by = native.createConverter(buildersOf(bson).number, 1, false, false, false);
      const job = by.startDocuments(documents, false, () => {
        const results = [];
        const counts = [];
        expect(job.makeReply(results)).toBeUndefined();
        while (!job.makeSome(results, 0)) counts.push(results.length);
        job.end();
        resolve(counts);
      });
    });

  it('between pieces of 32 documents, behind one whose names are new to the other thread', async () => {
    expect(await piecesOf(documentsOf(100))).toEqual([1, 33, 65, 97, 100]);
  });

  it('between pieces of 8 documents where the names of all are others, behind one piece for each at first sight', async () => {
    const documents = listOf(20, (index) => document([int('_id', 1), int(`name ${index}`, index)]));
    const counts = await piecesOf([...documents, ...documents]);
    expect(counts).toEqual([...listOf(20, (index) => index + 1), 28, 36, 40]);
  });

  const LONG = 600_000;
  const PIECES = {
    'ASCII, which is copied from the source': ['x', [1, 3, 5, 6]],
    'Latin-1, which the other thread has made': ['é', [1, 6]],
    'UTF-16': ['漢', [1, 2, 3, 4, 5, 6]],
  };
  for (const [title, [character, pieces]] of Object.entries(PIECES)) {
    it(`between long texts that are copied: ${title}`, async () => {
      const source = document([int('_id', 1), string('s', character.repeat(LONG))]);
      expect(await piecesOf(listOf(6, () => source))).toEqual(pieces);
    });
  }
});

describe('a signal', () => {
  const documents = documentsOf(100);

  it('that is aborted before rejects with its reason', async () => {
    const reason = new Error('before');
    for (const call of [
      (signal) => converter.convertBatchAsync(large, { signal }),
      (signal) => converter.convertDocumentsAsync(documents, { signal }),
    ]) {
      expect(await reasonOf(call(AbortSignal.abort(reason)))).toBe(reason);
      expect(await reasonOf(call(AbortSignal.abort()))).toMatchObject({ name: 'AbortError' });
    }
  });

  it('that is aborted during reading rejects at once, and disturbs no other batch', async () => {
    const order = [];
    const reason = { anything: true };
    const controller = new AbortController();
    const { signal } = controller;
    const first = converter.convertBatchAsync(large).then(({ documents: rows }) => {
      order.push('first');
      expect(rows.length).toBe(MANY);
    });
    const aborted = [
      reasonOf(converter.convertBatchAsync(large, { signal })),
      reasonOf(converter.convertDocumentsAsync(documents, { signal })),
      reasonOf(new NativeSourceRowConverter(1).convertBatchAsync(large, { signal })),
    ].map((promise) => promise.then((value) => order.push(value)));
    const last = converter.convertDocumentsAsync(documents).then((rows) => {
      order.push('last');
      expectSame(rows, converter.convertDocuments(documents));
    });
    await turn();
    controller.abort(reason);
    await Promise.all([first, ...aborted, last]);
    expect(order).toEqual([reason, reason, reason, 'first', 'last']);
    expect(order[0]).toBe(reason);
  });

  it('that is aborted between slices ends the making', async () => {
    const { by, count } = counting();
    const controller = new AbortController();
    const promise = reasonOf(by.convertBatchAsync(large, { signal: controller.signal }));
    const next = by.convertDocumentsAsync(documents);
    while (count.made === 0) await turn();
    const made = count.made;
    expect(made).toBeLessThan(MANY);
    controller.abort('between');
    expect(await promise).toBe('between');
    const rows = await next;
    expect(rows.length).toBe(documents.length);
    expect(count.made).toBe(made + documents.length);
  });

  it('that is aborted within a slice ends the making behind it', async () => {
    const controller = new AbortController();
    const { by, count } = counting((made) => made === 5 && controller.abort('within'));
    expect(await reasonOf(by.convertBatchAsync(large, { signal: controller.signal }))).toBe('within');
    expect(count.made).toBeGreaterThanOrEqual(5);
    expect(count.made).toBeLessThan(MANY);
  });

  it('that is aborted too late changes nothing', async () => {
    const controller = new AbortController();
    const rows = await converter.convertDocumentsAsync(documents, { signal: controller.signal });
    controller.abort();
    expectSame(rows, converter.convertDocuments(documents));
  });

  it('has one listener while batches are under way, and none afterwards', async () => {
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const all = listOf(30, (index) =>
      converter.convertDocumentsAsync(index === 7 ? [bad] : documents, { signal }),
    );
    expect(listeners()).toBe(1);
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBe(1);
    await turn();
    expect(listeners()).toBe(0);
    await converter.convertDocumentsAsync(documents, { signal });
    await turn();
    expect(listeners()).toBe(0);

    const controller = new AbortController();
    const promise = reasonOf(converter.convertBatchAsync(large, { signal: controller.signal }));
    controller.abort('x');
    expect(await promise).toBe('x');
    expect(getEventListeners(controller.signal, 'abort').length).toBe(0);
  });

  it('leaves neither unhandled rejections nor warnings', () => {
    const seen = runScript(`
      const { setImmediate: turn } = require('node:timers/promises');
      const seen = [];
      process.on('unhandledRejection', (reason) => seen.push(String(reason)));
      process.on('warning', ({ name }) => seen.push(name));
      const { serialize } = require('bson');
      const documents = Array.from({ length: 20_000 }, (_, index) => serialize({ _id: index, o: { n: index } }));
      const converter = new addon.NativeSourceRowConverter(1);
      const outcomes = [];
      for (let round = 0; round < 30; round++) {
        const controller = new AbortController();
        const { signal } = controller;
        const all = Promise.allSettled(
          Array.from({ length: 15 }, () => converter.convertDocumentsAsync(documents.slice(0, 1 + 1000 * (round % 7)), { signal })),
        );
        for (let index = 0; index < round; index++) await turn();
        controller.abort('ended');
        outcomes.push(...(await all).map(({ status, reason }) => status === 'fulfilled' || reason === 'ended'));
      }
      converter.convertDocumentsAsync([5]).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
      report([seen, outcomes.length, outcomes.every(Boolean)]);
    `);
    expect(seen).toEqual([[], 450, true]);
  });
});
