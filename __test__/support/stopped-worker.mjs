/**
 * Converts for ever, until it is stopped: by its parent, which is told when the first call is about to be made, or by
 * V8, as soon as the time for a script is over. Then it sends back what it was stopped by, what it converts after that,
 * and how many times as long that takes as with a converter that was never stopped.
 */
import { setImmediate } from 'node:timers/promises';
import vm from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import * as bson from 'bson';
import { NativeSourceRowConverter } from '../../index.js';

const { reply, events, documents, plain, call, timeout, started } = workerData;

/** A converter whose functions are compiled anew: it has a class of its own. */
const newConverter = () =>
  new NativeSourceRowConverter(0, { bson: { ...bson, Binary: class extends bson.Binary {} } });
const converter = newConverter();

const CALLS = {
  'convertBatch, a new converter each time': () =>
    newConverter().convertBatch(reply, { onError: 'return' }).changes,
  convertBatch: () => converter.convertBatch(reply, { onError: 'return' }).changes,
  convertBatchAsync: async () => (await converter.convertBatchAsync(reply, { onError: 'return' })).changes,
  convertDocuments: () => converter.convertDocuments(documents, { onError: 'return' }),
  convertChange: () => events.map((event) => converter.convertChange(event)),
  rawToSqliteRow: () => documents.map((document) => converter.rawToSqliteRow(document)),
  toMessagePack: () => [converter.toMessagePack(documents, { onError: 'return' })],
};

/** Any other than an object is what must never be given. */
function check(results) {
  for (const result of results) {
    if (typeof result !== 'object' || result === null || result instanceof Error) process.exit(3);
  }
}
const convert = () => check(CALLS[call]());

/** The shortest of some turns, in milliseconds: the first are not optimised yet, and see lib/allocation-sites.js. */
function timeOf(rowsOf) {
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now();
    for (let turn = 0; turn < 1000; turn++) rowsOf.rawToSqliteRow(plain);
    return performance.now() - start;
  });
  return Math.min(...times);
}

if (started !== undefined) {
  Atomics.store(started, 0, 1);
  Atomics.notify(started, 0);
  for (;;) {
    if (call.endsWith('Async')) check(await CALLS[call]());
    else convert();
  }
}
try {
  vm.runInNewContext('for (;;) try { convert() } catch {}', { convert }, { timeout });
} catch ({ code }) {
  const rows = () => converter.convertDocuments(documents).map(({ row }) => row);
  const atOnce = rows();
  await setImmediate();
  const ratio = timeOf(converter) / timeOf(newConverter());
  parentPort.postMessage({ code, atOnce, later: rows(), ratio });
}
