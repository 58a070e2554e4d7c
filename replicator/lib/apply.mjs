// Collects changes and hands them to the sink in batches, one transaction each.

/** A transaction is also closed after this much BSON, so that the rows waiting for it stay within bounds. */
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

export class Applier {
  /** Milliseconds spent in the sink. */
  sinkTime = 0;
  #sink;
  #maxRows;
  #changes = [];
  #bytes = 0;

  /** @param {number} maxRows changes in a transaction */
  constructor(sink, maxRows) {
    this.#sink = sink;
    this.#maxRows = maxRows;
  }

  get isFull() {
    return this.#changes.length >= this.#maxRows || this.#bytes >= MAX_BATCH_BYTES;
  }

  /** @param {number} bytes the size of what the change was read from */
  add(change, bytes) {
    if (change.kind === 'none') return;
    this.#changes.push(change);
    this.#bytes += bytes;
  }

  /** Stores what has been collected, together with how far its source has been read. */
  async flush(progress) {
    if (this.#changes.length === 0 && progress === null) return;
    const changes = this.#changes;
    this.#changes = [];
    this.#bytes = 0;
    const start = performance.now();
    await this.#sink.apply(changes, progress);
    this.sinkTime += performance.now() - start;
  }
}
