// A small generator of pseudo-random values: the same seed gives the same documents on every machine.

/** A xorshift generator of 32 bits: quick, reproducible, and random enough for sample documents. */
export class Random {
  #state;

  /** @param {number} seed any integer but 0 */
  constructor(seed) {
    this.#state = seed;
    // The first outputs of neighbouring seeds resemble each other.
    for (let i = 0; i < 16; i++) this.uint32();
  }

  uint32() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }

  /** An integer from `low` to `high`, both included. */
  integer(low, high) {
    return low + (this.uint32() % (high - low + 1));
  }

  /** @template T @param {readonly T[]} values @returns {T} */
  pick(values) {
    return values[this.integer(0, values.length - 1)];
  }

  boolean() {
    return this.uint32() >= 0x8000_0000;
  }

  bytes(length) {
    return Uint8Array.from({ length }, () => this.integer(0, 255));
  }

  /** A date of the years 2015 to 2025, to the millisecond. */
  date() {
    return new Date(Date.UTC(2015, 0, 1) + this.uint32() * 80 + this.integer(0, 79));
  }

  /** An amount of money: a double with up to two digits after the point, integral now and then. */
  amount() {
    return this.integer(0, 1_000_000) / 100;
  }
}
