const { setImmediate } = require('node:timers/promises');

/** @typedef {import('./native.js').NativeJob} NativeJob */

/** For so long objects are made without a pause, but for a last chunk of them. */
const SLICE_MS = 3;

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
    const made = make(job, ready, signal);
    // The sources are let go when no thread reads them any more, whatever became of the batch.
    this.#last = Promise.allSettled([made, read]).then(() => job.end());
    return made;
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
    const reply = job.makeReply(results);
    while (!job.makeSome(results, SLICE_MS)) {
      await setImmediate();
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
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

module.exports = { Jobs };
