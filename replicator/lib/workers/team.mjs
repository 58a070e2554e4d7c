// Several processes that apply, as one sink: a batch is divided among them by collection.
//
// Within a collection, changes keep their order, as one process applies all of them. A change that concerns whole
// collections is applied by the first process when all have stored what came before, and together with it the progress
// of all is put together into one entry: see positions.mjs.
import { randomUUID } from 'node:crypto';
import { claimOf, partOf, partsOf, resume } from '../positions.mjs';
import { loadFormat } from './messages/formats.mjs';
import { applierOf } from './routing.mjs';
import { Worker } from './worker.mjs';

/** A process that has nothing to apply is told how far the source has been read, so that its entry does not fall behind. */
const TELL_AFTER_MS = 5000;

/** @implements {import('../sink/sink.mjs').Sink} */
export class Team {
  #workers;
  #format;
  #run = randomUUID();
  #failure = null;
  #isClosing = false;
  #source = null;
  #order = null;
  /** By process: up to where an earlier run has applied; `null` where it is through with that. */
  #covered = [];
  /** The progress of the last batch, where it is not in the source's own entry yet. */
  #progress = null;
  /** Is told of what has been stored. */
  #onStored = () => {};

  constructor(workers, format) {
    this.#workers = workers;
    this.#format = format;
    this.#covered = workers.map(() => null);
  }

  /**
   * @param {object} options
   * @param {number} options.appliers
   * @param {'messagepack' | 'json'} options.format
   * @param {string} options.into
   * @param {boolean} options.dryRun
   * @param {string[]} options.collections which are replicated; none: all
   * @param {string | null} options.skipLog the file for changes that the sink refuses; `null`: such a change ends the run
   * @param {import('../backoff.mjs').RetryOptions} options.retry
   * @param {import('../apply.mjs').BatchLimits} options.limits
   * @param {(message: string) => void} options.onWarning
   * @param {(change: Pick<import('../changes.mjs').Change, 'kind' | 'namespace'>, reason: string) => void} options.onRefused
   */
  static async open({ appliers: count, onWarning, onRefused, retry: { signal, ...retry }, ...options }) {
    const workers = [];
    const team = new Team(workers, await loadFormat(options.format));
    const events = {
      onWarning,
      onRefused,
      onStored: (tally) => team.#onStored(tally),
      onFailure: (error) => team.#fail(error),
    };
    signal?.addEventListener('abort', () => team.#interrupt(), { once: true });
    try {
      for (let index = 0; index < count; index += 1) {
        const title = `${index + 1} of ${count}`;
        workers.push(new Worker(title, { ...options, retry, part: { index, count } }, events));
        // The first makes what is missing in the database.
        if (index === 0) await workers[0].opened;
      }
      await Promise.all(workers.map(({ opened }) => opened));
    } catch (error) {
      await team.close();
      throw error;
    }
    team.#covered = workers.map(() => null);
    return team;
  }

  /** Milliseconds spent in the sinks of all processes. */
  get storingTime() {
    return this.#workers.reduce((sum, { storingTime }) => sum + storingTime, 0);
  }

  async readPosition(source, order) {
    const count = this.#workers.length;
    const claims = this.#workers.map((worker) => worker.ask('claim', { source, run: this.#run }));
    const [entries] = await Promise.all(claims);
    const { position, covered, forget } = resume(entries, source, count, order);
    this.#source = source;
    this.#order = order;
    this.#covered = covered;
    this.#progress = null;
    if (forget.length > 0) await this.#leave([], { source, position });
    return position;
  }

  /** Resolves when all is on its way, and there is room for more. */
  async apply(changes, progress, reached, onStored) {
    this.#check();
    this.#onStored = onStored;
    if (progress !== null) this.#progress = progress;
    if (this.#workers.length === 1) {
      await this.#hand(
        0,
        changes,
        progress,
        reached.map((one) => ({ progress: () => this.#claimed(one.progress()) })),
      );
      return;
    }
    let shares = new Map();
    for (const [at, change] of changes.entries()) {
      if (change.kind === 'put' || change.kind === 'remove') {
        this.#share(shares, change, reached[at]);
        continue;
      }
      await this.#handShares(shares, at === 0 ? null : reached[at - 1].progress());
      shares = new Map();
      await this.#leave([change], reached[at].progress());
      this.#progress = progress;
    }
    await this.#handShares(shares, progress);
    if (progress !== null) await this.#tell(progress);
  }

  /** Until all is stored, and the progress with it in one entry. */
  async settle() {
    this.#check();
    const progress = this.#progress;
    if (this.#workers.length > 1 && progress !== null) {
      if (this.#covered.every((_, index) => this.#isThrough(index, progress)))
        await this.#leave([], progress);
      else await this.#tell(progress, 0);
    }
    await Promise.all(this.#workers.map((worker) => worker.settled()));
    this.#check();
  }

  async reset() {
    await this.#workers[0].ask('reset');
    await Promise.all(this.#workers.map((worker) => worker.ask('refresh')));
  }

  async tables() {
    const lists = await Promise.all(this.#workers.map((worker) => worker.ask('tables')));
    return lists.flat().sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  }

  async firstRows(namespace, count) {
    return this.#workers[applierOf(namespace, this.#workers.length)].ask('firstRows', { namespace, count });
  }

  async close() {
    this.#isClosing = true;
    // The first last, which leaves the database as it is to be.
    for (const worker of [...this.#workers].reverse()) await worker.close();
  }

  #interrupt() {
    for (const worker of this.#workers) worker.interrupt();
  }

  #fail(error) {
    if (!this.#isClosing) this.#failure ??= error;
  }

  #check() {
    if (this.#failure !== null) throw this.#failure;
  }

  #share(shares, change, reached) {
    const index = applierOf(change.namespace, this.#workers.length);
    const covered = this.#covered[index];
    if (covered !== null && reached.order !== null && reached.order <= covered) return;
    if (!shares.has(index)) shares.set(index, { changes: [], reached: [] });
    const share = shares.get(index);
    share.changes.push(change);
    share.reached.push(reached);
  }

  async #handShares(shares, progress) {
    for (const [index, { changes, reached }] of shares)
      await this.#hand(
        index,
        changes,
        this.#partOf(index, progress),
        reached.map((one) => this.#reachedOf(index, one)),
      );
  }

  async #hand(index, changes, progress, reached) {
    const message = changes.length === 0 ? [] : this.#format.encode(changes);
    await this.#workers[index].hand(message, this.#claimed(progress), reached);
    this.#check();
  }

  /** The entry of one process. */
  #partOf(index, progress) {
    if (progress === null) return null;
    return { ...progress, source: partOf(progress.source, index, this.#workers.length) };
  }

  #reachedOf(index, reached) {
    return { progress: () => this.#claimed(this.#partOf(index, reached.progress())) };
  }

  /** Stored only as long as no later run has taken the source over. */
  #claimed(progress) {
    if (progress === null) return null;
    return { ...progress, claim: { name: claimOf(this.#source), run: this.#run } };
  }

  /** Tells those that have not been told for a while. */
  async #tell(progress, after = TELL_AFTER_MS) {
    const now = performance.now();
    for (const [index, worker] of this.#workers.entries()) {
      if (now - worker.lastTold < after || !this.#isThrough(index, progress)) continue;
      await this.#hand(index, [], this.#partOf(index, progress), []);
    }
  }

  /** Whether a process has no more behind this progress than is known of it. */
  #isThrough(index, { position }) {
    const covered = this.#covered[index];
    if (covered === null) return true;
    const place = this.#order.of(position);
    if (place === null || place < covered) return false;
    this.#covered[index] = null;
    return true;
  }

  /** All have stored what came before; then the first stores this, and one entry for all. */
  async #leave(changes, progress) {
    await Promise.all(this.#workers.map((worker) => worker.settled()));
    this.#check();
    const forget = partsOf(progress.source, this.#workers.length);
    const [first, ...others] = this.#workers;
    if (changes.length > 0) await first.ask('refresh');
    await this.#hand(0, changes, { ...progress, forget }, [{ progress: () => null }]);
    await first.settled();
    this.#check();
    await Promise.all(others.map((worker) => worker.ask('refresh')));
    this.#progress = null;
  }
}
