/**
 * Converts for ever, until it is stopped: by its parent, which is told when the first call is about to be made, or by
 * V8, as soon as the time for a script is over. Then it sends the code of the error back.
 */
import vm from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import * as bson from 'bson';
import { NativeSourceRowConverter } from '../../index.js';

const { reply, events, documents, call, timeout, started } = workerData;

/** A converter whose functions are compiled anew: it has a class of its own. */
const newConverter = () =>
  new NativeSourceRowConverter(0, { bson: { ...bson, Binary: class extends bson.Binary {} } });
const converter = newConverter();

const CALLS = {
  'convertBatch, a new converter each time': () =>
    newConverter().convertBatch(reply, { onError: 'return' }).changes,
  convertBatch: () => converter.convertBatch(reply, { onError: 'return' }).changes,
  convertDocuments: () => converter.convertDocuments(documents, { onError: 'return' }),
  convertChange: () => events.map((event) => converter.convertChange(event)),
  rawToSqliteRow: () => documents.map((document) => converter.rawToSqliteRow(document)),
  toMessagePack: () => [converter.toMessagePack(documents, { onError: 'return' })],
};

/** Any other than an object is what must never be given. */
function convert() {
  for (const result of CALLS[call]()) {
    if (typeof result !== 'object' || result === null || result instanceof Error) process.exit(3);
  }
}

if (started !== undefined) {
  Atomics.store(started, 0, 1);
  Atomics.notify(started, 0);
  for (;;) convert();
}
try {
  vm.runInNewContext('for (;;) try { convert() } catch {}', { convert }, { timeout });
} catch ({ code }) {
  parentPort.postMessage(code);
}
