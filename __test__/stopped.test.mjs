/** V8 stops JavaScript where its thread is terminated, or a script takes longer than it may. Nothing holds that up. */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter } from '../index.js';
import { document, element, int, string, Type } from './support/bson-bytes.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';

const native = createRequire(import.meta.url)('../lib/native.js');

const WORKER = new URL('./support/stopped-worker.mjs', import.meta.url);
const CALLS = [
  'convertBatch, a new converter each time',
  'convertBatch',
  'convertDocuments',
  'convertChange',
  'rawToSqliteRow',
  'toMessagePack',
];
const ROUNDS = 10;
/** One that takes a function to be at work for ever takes some twenty times as long. */
const MOST_RATIO = 5;

/** Made by a call of JavaScript each: `_id` is left to the deserialiser. */
const documents = Array.from({ length: 100 }, (_, index) =>
  document([
    element(Type.DOCUMENT, '_id', document([int('a', index), element(Type.MIN_KEY, 'b', [])])),
    string('name', `item ${index}, ł`),
    element(Type.DOCUMENT, 'o', document([int('x', index % 7)])),
  ]),
);
const events = documents.map((fullDocument, index) =>
  document([
    element(Type.DOCUMENT, '_id', document([string('_data', `82${index}`)])),
    string('operationType', 'insert'),
    element(Type.DOCUMENT, 'fullDocument', fullDocument),
    element(Type.DOCUMENT, 'documentKey', document([int('_id', index)])),
  ]),
);
const reply = cursorReply(batchOf(events), { isChangeStream: true });
/** Made without a call. */
const plain = document([int('_id', 1), string('a', 'b'), string('c', 'd')]);
const workerData = { reply, events, documents, plain };
const rows = new NativeSourceRowConverter(0).convertDocuments(documents).map(({ row }) => row);

describe.each([...CALLS, 'convertBatchAsync'])('in a thread that is terminated, %s', (call) => {
  it('ends, also in the first call', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const started = new Int32Array(new SharedArrayBuffer(4));
      const thread = new Worker(WORKER, { workerData: { ...workerData, call, started } });
      const { async, value } = Atomics.waitAsync(started, 0, 0);
      if (async) await value;
      await new Promise((resolve) => setTimeout(resolve, round % 5));
      expect(await thread.terminate()).toBe(1);
    }
  });
});

describe.each(CALLS)('in a script whose time is over, %s', (call) => {
  it('ends, and no catch holds it; its converter goes on as before', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const thread = new Worker(WORKER, { workerData: { ...workerData, call, timeout: 10 + round } });
      const { code, atOnce, later, ratio } = await new Promise((resolve, reject) => {
        thread.once('message', resolve);
        thread.once('error', reject);
        thread.once('exit', reject);
      });
      expect(code).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
      expect(atOnce).toEqual(rows);
      expect(later).toEqual(rows);
      expect(ratio).toBeLessThan(MOST_RATIO);
      await thread.terminate();
    }
  });
});

describe('where the addon can neither give nor throw anything', () => {
  /**
   * A converter whose addon, as long as `mode` is `fails`, finds what it is given malformed and cannot say so, and as long
   * as it is `cut` is stopped when it has done its part.
   */
  function stoppable() {
    const state = { mode: 'works' };
    const { createConverter } = native;
    const wrap =
      (method) =>
      (source, ...values) => {
        if (state.mode === 'fails') {
          expect(() => method(Buffer.alloc(5), ...values)).toThrow();
          return undefined;
        }
        const result = method(source, ...values);
        if (state.mode === 'cut') throw new Error('cut');
        return result;
      };
    native.createConverter = (...settings) =>
      Object.fromEntries(
        Object.entries(createConverter(...settings)).map(([name, method]) => [name, wrap(method)]),
      );
    try {
      return { state, converter: new NativeSourceRowConverter(0) };
    } finally {
      native.createConverter = createConverter;
    }
  }

  it.each([
    ['rawToSqliteRow', (converter) => converter.rawToSqliteRow(plain)],
    [
      'rawToSqliteRow, one text',
      (converter) => converter.rawToSqliteRow(document([int('_id', 1), string('a', 'ł')])),
    ],
    ['rawToSqliteRow, a call', (converter) => converter.rawToSqliteRow(documents[0])],
    ['convertChange', (converter) => converter.convertChange(events[0])],
    ['convertBatch', (converter) => converter.convertBatch(reply)],
    ['convertDocuments', (converter) => converter.convertDocuments(documents)],
    ['toMessagePack', (converter) => converter.toMessagePack(documents)],
  ])('%s throws, whatever was made before', (_name, call) => {
    const { state, converter } = stoppable();
    for (const other of [
      call,
      () => converter.rawToSqliteRow(document([int('_id', 2)])),
      () => converter.convertBatch(reply),
    ]) {
      state.mode = 'works';
      // Twice: the first compiles the function.
      const first = other(converter);
      expect(other(converter)).toEqual(first);
      for (const isCut of [false, true]) {
        state.mode = 'cut';
        if (isCut) expect(() => other(converter)).toThrow('cut');
        state.mode = 'fails';
        expect(() => call(converter)).toThrow('Nothing is converted while JavaScript is being stopped');
        expect(() => call(converter)).toThrow('Nothing is converted while JavaScript is being stopped');
      }
    }
  });
});
