const { setImmediate } = require('node:timers/promises');
const { onAbort } = require('./aborts.js');
const { made } = require('./made.js');

/** @typedef {import('./native.js').NativeJob} NativeJob */

/** For so long objects are made without a pause, but for a last chunk of them. */
const SLICE_MS = 3;

/** When the turn of the event loop that the last slice has is over. @type {Promise<void>} */
let over = Promise.resolve();

/**
 * The next turn of the event loop that no other slice has: many batches that are read already are not made without a
 * pause either, whichever converters they are of. Those that wait get theirs in order.
 */
function ownTurn() {
  const mine = over;
  over = mine.then(() => setImmediate());
  return mine;
}

/**
 * The batches of a converter that are read on other threads: many at once, but their objects are made in the order in
 * which the batches came, a slice of them at a time.
 */
class Jobs {
  /** When the objects of the last batch are made, or never will be. @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * @param {(onRead: () => void) => NativeJob} start
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<{ reply: any, results: any[] }>}
   */
  run(start, signal) {
    /** @type {() => void} */
    let onRead = () => {};
    const read = /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        onRead = resolve;
      })
    );
    const job = start(onRead);
    const ready = Promise.all([read, this.#last]);
    const making = make(job, ready, signal);
    // The sources are let go when no thread reads them any more, whatever became of the batch.
    Promise.allSettled([making, read]).then(() => job.end());
    // Where this batch is aborted, the next one still waits for those before.
    this.#last = Promise.allSettled([making, ready]).then(() => {});
    return making;
  }
}

/**
 * @param {NativeJob} job
 * @param {Promise<unknown>} ready
 * @param {AbortSignal | undefined} signal
 */
async function make(job, ready, signal) {
  try {
    await unlessAborted(ready, signal);
    /** @type {any[]} */
    const results = [];
    await ownTurn();
    signal?.throwIfAborted();
    // None for documents. That JavaScript is being stopped is seen by the next call.
    const reply = job.makeReply(results);
    while (!made(job.makeSome(results, SLICE_MS))) {
      await ownTurn();
      signal?.throwIfAborted();
    }
    return { reply, results };
  } catch (error) {
    job.abort();
    throw error;
  }
}

/**
 * @param {Promise<unknown>} promise
 * @param {AbortSignal | undefined} signal
 */
function unlessAborted(promise, signal) {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => {
      forget();
      reject(signal.reason);
    });
    promise.then(resolve, reject).finally(forget);
  });
}

module.exports = { Jobs };
