/** Converts the reply it is given, so many times, and sends the last result back. */
import { parentPort, workerData } from 'node:worker_threads';
import { NativeSourceRowConverter } from '../../index.js';

const { reply, rounds } = workerData;
const converter = new NativeSourceRowConverter(1);
let batch;
for (let round = 0; round < rounds; round++) batch = converter.convertBatch(reply, { onError: 'return' });
parentPort.postMessage(batch.changes.map(({ row, operationType }) => ({ row, operationType })));
