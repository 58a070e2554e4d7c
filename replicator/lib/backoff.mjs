// Waiting between attempts: longer each time, and not for ever.
import { setTimeout as sleep } from 'node:timers/promises';

export const DEFAULT_RETRY = { retries: 10, retryDelay: 250 };

const MAX_DELAY_MS = 15_000;
/** Waits are longer by up to so much of them, so that many replicators do not come back at the same moment. */
const SPREAD = 0.25;

/**
 * @typedef {object} RetryOptions
 * @property {number} retries attempts after the first; 0: none
 * @property {number} retryDelay milliseconds before the first of them; doubled each time, up to 15 s
 * @property {AbortSignal} [signal] ends a wait; no attempt follows it
 */

export class Backoff {
  #retries;
  #firstDelay;
  #signal;
  #failures = 0;

  /** @param {RetryOptions} options */
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

  /**
   * Counts a failure.
   * @returns {{ notice: string, wait: () => Promise<boolean> } | null} the attempt that is left: what to say of it, and
   *   its wait, `false` where that was ended by the signal; `null` where no attempt is left
   */
  failed() {
    this.#failures += 1;
    if (this.#failures > this.#retries || this.#signal?.aborted) return null;
    const doubled = this.#firstDelay * 2 ** (this.#failures - 1);
    const delay = Math.min(doubled, MAX_DELAY_MS / (1 + SPREAD)) * (1 + SPREAD * Math.random());
    return {
      notice: `trying again in ${(delay / 1000).toFixed(1)} s (${this.#failures} of ${this.#retries})`,
      wait: async () => {
        await sleep(delay, undefined, { signal: this.#signal }).catch(() => {});
        return this.#signal?.aborted !== true;
      },
    };
  }
}
