// The snapshot: all documents of the collections that are pending, in the order of their `_id`s.
import { readSnapshot } from './documents.mjs';
import { openSnapshot } from './pipeline.mjs';
import { currentTime } from './server.mjs';

export class Snapshot {
  #context;

  /** @param {import('./live-run.mjs').LiveContext} context */
  constructor(context) {
    this.#context = context;
  }

  /** Until none is pending, or the run is over. */
  async read() {
    const { recorder } = this.#context;
    while (recorder.position.pending.length > 0) {
      await this.#readCollection(recorder.position.pending[0]);
      if (recorder.isOver) return;
      recorder.position = recorder.position.afterCollection();
      if (recorder.position.pending.length === 0) {
        recorder.position = recorder.position.afterSnapshots(await this.#now());
      }
      await recorder.store();
    }
  }

  async #readCollection(namespace) {
    const { recorder, reader, convert, bson, shown, progress } = this.#context;
    const request = {
      name: `${shown}: snapshot of ${namespace}`,
      open: (batchSize) => openSnapshot(namespace, recorder.position.last, batchSize),
      convert: (cursor) => convert(cursor, 'documents'),
      isStream: false,
    };
    for await (const { batch, cursor } of reader.read(request)) {
      const size = Math.round(batch.byteLength / batch.documents.length);
      for (const { change, id, failure } of readSnapshot(batch, cursor, namespace, bson)) {
        if (recorder.isOver) return;
        const { position } = recorder;
        recorder.take(change, null, failure, id === undefined ? position : position.afterDocument(id), size);
        if (recorder.isDue) await recorder.handOver();
      }
      progress.show(`snapshot of ${namespace}`, recorder.report);
    }
  }

  async #now() {
    const { reader, connection, shown } = this.#context;
    return await reader.retry(shown, () => currentTime(connection));
  }
}
