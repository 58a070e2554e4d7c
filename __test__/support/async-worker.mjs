/** Converts batches off the thread that this is, four at once, so many times; sends what came of it. */
import { parentPort, workerData } from 'node:worker_threads';
import { NativeSourceRowConverter } from '../../index.js';
import { document, element, payload, string, Type } from './bson-bytes.mjs';
import { batchOf, cursorReply } from './replies.mjs';

const documents = Array.from({ length: 5000 }, (_, index) =>
  document([
    element(Type.OBJECT_ID, '_id', Buffer.alloc(12, index)),
    element(Type.STRING, 's', payload.string(`text ${index}`)),
    string('long', 'x'.repeat(index % 100 === 0 ? 20_000 : 1)),
  ]),
);
const reply = cursorReply(batchOf(documents));
const converters = [{}, { zeroCopy: true }].map((options) => new NativeSourceRowConverter(1, options));

const answer = { batches: 0, rows: 0, wrong: 0 };
for (let round = 0; round < workerData.rounds; round++) {
  const batches = await Promise.all(
    converters.flatMap((converter) => [
      converter.convertBatchAsync(reply).then((batch) => batch.documents),
      converter.convertDocumentsAsync(documents),
    ]),
  );
  for (const rows of batches) {
    answer.batches += 1;
    answer.rows += rows.length;
    answer.wrong += rows.filter(({ row }, index) => row.s !== `text ${index}`).length;
  }
}
parentPort.postMessage(answer);
