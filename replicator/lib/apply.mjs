// Collects changes and hands them to the sink in batches, one transaction each.
import { RefusedError } from './errors.mjs';
import { tallyOf } from './report.mjs';

/**
 * When a batch is closed, whichever comes first.
 * @typedef {object} BatchLimits
 * @property {number} rows changes in a batch
 * @property {number} bytes of BSON read for a batch, so that the rows waiting for it stay within bounds
 * @property {number} milliseconds since the batch before was closed
 */

/**
 * How far a source has been read with a change.
 * @typedef {object} Reached
 * @property {(() => import('./sink/sink.mjs').Progress | null | Promise<import('./sink/sink.mjs').Progress | null>) | null}
 *   progress that covers the change and all before it; `null`: it is not known
 * @property {number | string | null} order where that is, compared as the places of the source are; `null` where it
 *   cannot be compared
 */

/** @type {BatchLimits} */
export const DEFAULT_LIMITS = { rows: 1000, bytes: 8 * 1024 * 1024, milliseconds: 5000 };

export class Applier {
  #sinkTime = 0;
  #sink;
  #limits;
  #onStored;
  #changes = [];
  /** How far the source has been read with each change. @type {Reached[]} */
  #reached = [];
  #bytes = 0;
  #isTouched = false;
  #lastFlush = performance.now();
  /** The batch that is being stored. Where that failed it stays so: what comes after must not be stored, either. */
  #underWay = Promise.resolve();

  /**
   * @param {import('./sink/sink.mjs').Sink} sink
   * @param {BatchLimits} limits
   * @param {(tally: Map<string, import('./report.mjs').CollectionCount>) => void} [onStored] is told of
   *   what has been stored
   */
  constructor(sink, limits, onStored = () => {}) {
    this.#sink = sink;
    this.#limits = limits;
    this.#onStored = onStored;
  }

  /** Milliseconds spent in the sink. */
  get sinkTime() {
    return this.#sink.storingTime ?? this.#sinkTime;
  }

  /** Whether the batch is to be flushed before more is read. */
  get isFull() {
    const { rows, bytes, milliseconds } = this.#limits;
    if (this.#changes.length >= rows || this.#bytes >= bytes) return true;
    return this.#isTouched && performance.now() - this.#lastFlush > milliseconds;
  }

  /**
   * @param {import('./changes.mjs').Change} change
   * @param {number} bytes the size of what the change was read from
   * @param {() => import('./sink/sink.mjs').Progress | null} progressOf the progress that covers this change and all
   *   before it; it gives `null` where storing them again does no harm
   * @param {number | string | null} order where that is, compared as the places of the source are
   */
  add(change, bytes, progressOf, order = null) {
    this.#isTouched = true;
    if (change.kind === 'none') return;
    this.#changes.push(change);
    this.#reached.push({ progress: progressOf, order });
    this.#bytes += bytes;
  }

  /** Something was read that makes no change, but moves the progress on. */
  touch() {
    this.#isTouched = true;
  }

  /**
   * Hands what has been collected to the sink, together with how far its source has been read, and waits until the
   * batch before is stored, not this one: the next is collected meanwhile, but for batches that are closed for their
   * size. While it is awaited nothing more should be read, so that no more than two batches are ever held here: that is
   * how a slow sink slows its source.
   * @throws what storing the batch before threw
   */
  async handOver(progress) {
    const changes = this.#changes;
    const reached = this.#reached;
    const isLarge = this.#bytes >= this.#limits.bytes;
    this.#changes = [];
    this.#reached = [];
    this.#bytes = 0;
    this.#isTouched = false;
    this.#lastFlush = performance.now();
    await this.#underWay;
    if (changes.length === 0 && progress === null) return;
    this.#underWay = this.#store(changes, reached, progress);
    // It is awaited later; until then a failure must not count as one that nobody looks at.
    this.#underWay.catch(() => {});
    if (isLarge) await this.#underWay;
  }

  /**
   * The same, and waits until all is stored.
   * @throws RefusedError after what came before the refused change has been stored
   */
  async flush(progress) {
    await this.handOver(progress);
    await this.#underWay;
    await this.#sink.settle?.();
  }

  async #store(changes, reached, progress) {
    try {
      await this.#apply(changes, progress, reached);
    } catch (error) {
      if (error instanceof RefusedError && error.index > 0) {
        // A refusal among those before stands before this one, and is the one to report.
        const before = await reached[error.index - 1].progress();
        await this.#store(changes.slice(0, error.index), reached, before);
      }
      throw error;
    }
  }

  async #apply(changes, progress, reached) {
    const start = performance.now();
    try {
      await this.#sink.apply(changes, progress, reached, this.#onStored);
      if (this.#sink.settle === undefined) this.#onStored(tallyOf(changes));
    } finally {
      this.#sinkTime += performance.now() - start;
    }
  }
}
