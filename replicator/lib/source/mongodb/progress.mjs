// Shows how far a live run is, on standard error: a line now and then.

const LINE_INTERVAL_MS = 5000;
const MIB = 1024 * 1024;

export class LiveProgress {
  #stream;
  #last = performance.now();

  /** @param {NodeJS.WritableStream | null} stream `null`: nothing is shown */
  constructor(stream) {
    this.#stream = stream;
  }

  /**
   * @param {string} doing
   * @param {import('../../report.mjs').Report} report
   */
  show(doing, { documents, bytes }) {
    const now = performance.now();
    if (this.#stream === null || now - this.#last < LINE_INTERVAL_MS) return;
    this.#last = now;
    this.#stream.write(`${doing}: ${documents} documents, ${(bytes / MIB).toFixed(1)} MiB\n`);
  }
}
