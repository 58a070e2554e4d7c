// The change stream, from the position reached until the run is over.
import { namespaceOf } from '../../event-change.mjs';
import { Fragments } from '../fragments.mjs';
import { EventReader } from './events.mjs';
import { openChangeStream } from './pipeline.mjs';
import { splitsEvents } from './server.mjs';

export class ChangeStream {
  #context;
  #name;

  /** @param {import('./live-run.mjs').LiveContext} context */
  constructor(context) {
    this.#context = context;
    this.#name = `${context.shown}: change stream`;
  }

  /** @returns {Promise<boolean>} whether a snapshot is due before the stream goes on; else the run is over */
  async follow() {
    const { recorder, reader, progress, options, mapper, bson, converter } = this.#context;
    const fragments = new Fragments();
    const events = new EventReader(mapper, bson, this.#fallback, fragments, converter);
    let lastEvent = performance.now();
    let lastTime = null;
    for await (const { batch, cursor, hasWaited } of reader.read(await this.#request(fragments))) {
      if (await this.#takeEvents(events.read(batch, cursor), batch)) return true;
      if (recorder.isOver) return false;
      if (!fragments.isWaiting) recorder.position = behindReply(recorder.position, batch);
      lastTime = batch.changes.at(-1)?.clusterTime ?? lastTime;
      progress.show('change stream', recorder.report, lastTime);
      if (batch.changes.length > 0) {
        lastEvent = performance.now();
        if (recorder.isDue) await recorder.handOver();
        continue;
      }
      await recorder.store();
      const { idleSeconds } = options;
      const idleTime = performance.now() - lastEvent;
      if (idleSeconds !== null && hasWaited && idleTime >= idleSeconds * 1000) return false;
    }
    return false;
  }

  async #request(fragments) {
    const { recorder, reader, convert, connection, shown, options } = this.#context;
    const splits = await reader.retry(shown, () => splitsEvents(connection));
    return {
      name: this.#name,
      open: (batchSize) => {
        // Fragments that are waiting for the others come again.
        fragments.clear();
        return openChangeStream({ ...options, splits }, recorder.position.start, batchSize);
      },
      convert: (cursor) => convert(cursor, 'changes'),
      isStream: true,
    };
  }

  /** @returns {Promise<boolean>} whether a snapshot is due */
  async #takeEvents(events, { byteLength, changes }) {
    const { recorder } = this.#context;
    const size = Math.round(byteLength / changes.length);
    for (const { change, event, failure, isFragment, token } of events) {
      if (recorder.isOver) return false;
      const position = behindEvent(recorder.position, event, token);
      if (isFragment) recorder.pass(position, size);
      else recorder.take(change, event, failure, position, size);
      if (event?.operationType === 'rename' && this.#needsSnapshot(event)) {
        recorder.position = recorder.position.withSnapshotOf(namespaceOf(event.to));
        await recorder.store();
        return true;
      }
      if (recorder.isDue) await recorder.handOver();
    }
    return false;
  }

  /** A stream that watches one collection need not be told its name. */
  get #fallback() {
    const { namespace, selection } = this.#context.options;
    return namespace ?? (selection.watch === 'collection' ? selection.namespaces[0] : null);
  }

  /**
   * Documents that come under a name of the selection by a rename are read anew: they are not known where the old
   * name is not selected, and not all of them where it was renamed while the snapshot went on.
   */
  #needsSnapshot({ ns, to, clusterTime }) {
    const { options, recorder } = this.#context;
    const { isSelected } = options.selection;
    if (options.snapshot === 'never' || !isSelected(namespaceOf(to))) return false;
    if (!isSelected(namespaceOf(ns))) return true;
    const { snapshotEnd } = recorder.position;
    return snapshotEnd !== null && clusterTime?.lessThanOrEqual(snapshotEnd) === true;
  }
}

function behindEvent(position, event, token) {
  if (token === undefined) return position;
  return event?.operationType === 'invalidate' ? position.afterStream(token) : position.afterEvent(token);
}

/** Behind its last event a reply has a token of its own, which goes on where events are rare. */
function behindReply(position, { id, changes, postBatchResumeToken: token }) {
  const isEnd = id === 0n || changes.at(-1)?.operationType === 'invalidate';
  return token === undefined || isEnd ? position : position.afterEvent(token);
}
