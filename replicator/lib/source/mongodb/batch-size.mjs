// How many documents to ask for at a time: fewer after a reply that was too much for the server, then more again;
// and never many more than fill a reply that is pleasant to hold.

/** Good replies after which the size is doubled. */
const GOOD_REPLIES = 8;
/** Larger replies are no faster to read, and two of them are held at a time. */
const WANTED_BYTES = 4 * 1024 * 1024;

export class BatchSize {
  #max;
  #size;
  #fitting = Number.POSITIVE_INFINITY;
  #good = 0;

  /** @param {number} max documents */
  constructor(max) {
    this.#max = max;
    this.#size = max;
  }

  get current() {
    return Math.min(this.#size, this.#fitting);
  }

  /** A reply of so many documents was `bytes` long. */
  received(bytes, documents) {
    if (documents > 0) this.#fitting = Math.max(1, Math.floor((WANTED_BYTES / bytes) * documents));
  }

  succeeded() {
    if (this.#size === this.#max) return;
    this.#good += 1;
    if (this.#good < GOOD_REPLIES) return;
    this.#good = 0;
    this.#size = Math.min(this.#size * 2, this.#max);
  }

  /** @returns {boolean} `false` where it is 1 already */
  halve() {
    this.#good = 0;
    const { current } = this;
    this.#size = Math.max(1, current >> 1);
    return current > 1;
  }
}
