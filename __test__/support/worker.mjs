/** Converts the documents it is given, so many times, and sends the last rows back. */
import { parentPort, workerData } from 'node:worker_threads';
import { bufferToSqlite, NativeSourceRowConverter } from '../../index.js';

const { documents, rounds } = workerData;
const converter = new NativeSourceRowConverter(1);
let rows;
for (let round = 0; round < rounds; round++) {
  rows = documents.map((bytes) =>
    round % 2 ? bufferToSqlite(bytes, 1) : converter.rawToSqliteRow(bytes).row,
  );
}
parentPort.postMessage(rows);
