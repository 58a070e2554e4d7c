/** V8 stops JavaScript where its thread is terminated, or a script takes longer than it may. Nothing holds that up. */
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter } from '../index.js';
import { document, element, payload, Type } from './support/bson-bytes.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';

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

const int = (name, value) => element(Type.INT32, name, payload.int32(value));
/** Made by a call of JavaScript each: `_id` is left to the deserialiser. */
const documents = Array.from({ length: 100 }, (_, index) =>
  document([
    element(Type.DOCUMENT, '_id', document([int('a', index), element(Type.MIN_KEY, 'b', [])])),
    element(Type.STRING, 'name', payload.string(`item ${index}, ł`)),
    element(Type.DOCUMENT, 'o', document([int('x', index % 7)])),
  ]),
);
const events = documents.map((fullDocument, index) =>
  document([
    element(Type.DOCUMENT, '_id', document([element(Type.STRING, '_data', payload.string(`82${index}`))])),
    element(Type.STRING, 'operationType', payload.string('insert')),
    element(Type.DOCUMENT, 'fullDocument', fullDocument),
    element(Type.DOCUMENT, 'documentKey', document([int('_id', index)])),
  ]),
);
const reply = cursorReply(batchOf(events), { isChangeStream: true });

describe.each(CALLS)('%s', (call) => {
  it('ends with its thread, also where that is terminated in the first call', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const started = new Int32Array(new SharedArrayBuffer(4));
      const thread = new Worker(WORKER, { workerData: { reply, events, documents, call, started } });
      const { async, value } = Atomics.waitAsync(started, 0, 0);
      if (async) await value;
      await new Promise((resolve) => setTimeout(resolve, round % 5));
      expect(await thread.terminate()).toBe(1);
    }
  });

  it('ends when its time is over, and no catch holds it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const timeout = 10 + round;
      const thread = new Worker(WORKER, { workerData: { reply, events, documents, call, timeout } });
      const code = await new Promise((resolve, reject) => {
        thread.once('message', resolve);
        thread.once('error', reject);
        thread.once('exit', reject);
      });
      expect(code).toBe('ERR_SCRIPT_EXECUTION_TIMEOUT');
      await thread.terminate();
    }
  });
});

it('leaves a converter of this thread as it was', () => {
  const rows = new NativeSourceRowConverter(0).convertDocuments(documents);
  expect(rows.map(({ row }) => row.o)).toEqual(documents.map((_, index) => `{"x":${index % 7}}`));
});
