// Waiting between attempts: longer each time, and not for ever.
import { setTimeout as sleep } from 'node:timers/promises';

export const DEFAULT_RETRY = { retries: 10, retryDelay: 250 };

const MAX_DELAY_MS = 15_000;

/**
 * @typedef {object} RetryOptions
 * @property {number} retries attempts after the first
 * @property {number} retryDelay milliseconds before the first of them; doubled each time, up to 15 s
 */

export class Backoff {
  #retries;
  #firstDelay;
  #signal;
  #failures = 0;

  /** @param {RetryOptions & { signal?: AbortSignal }} options `signal` ends a wait */
  constructor({ retries, retryDelay, signal }) {
    this.#retries = retries;
    this.#firstDelay = retryDelay;
    this.#signal = signal;
  }

  /** Failures since the last success. */
  get failures() {
    return this.#failures;
  }

  succeeded() {
    this.#failures = 0;
  }

  /** Counts a failure and waits. @returns {Promise<boolean>} `false` where no attempt is left */
  async failed() {
    this.#failures += 1;
    if (this.#failures > this.#retries || this.#signal?.aborted) return false;
    const delay = Math.min(this.#firstDelay * 2 ** (this.#failures - 1), MAX_DELAY_MS);
    // Apart by up to a quarter, so that many replicators do not come back at the same moment.
    await sleep(delay * (1 + Math.random() / 4), undefined, { signal: this.#signal }).catch(() => {});
    return this.#signal?.aborted !== true;
  }
}
