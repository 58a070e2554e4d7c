// Shows how far a live run is, on standard error: on a terminal one line that is kept up to date, else a line now and
// then, and only where something has changed.
import { LINE_INTERVAL_MS } from '../../progress.mjs';
import { mib } from '../../units.mjs';

const TERMINAL_INTERVAL_MS = 200;
/** To the start of the line, and clear it. */
const REWRITE = '\r\u001b[K';

export class LiveProgress {
  #stream;
  #interval;
  #last = performance.now();
  #shown = '';

  /** @param {NodeJS.WriteStream | null} stream `null`: nothing is shown */
  constructor(stream) {
    this.#stream = stream;
    this.#interval = stream?.isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS;
  }

  /**
   * @param {string} doing
   * @param {import('../../report.mjs').Report} report
   * @param {{ high: number } | null} [clusterTime] the server's time of the last event
   */
  show(doing, { documents, bytes }, clusterTime = null) {
    const now = performance.now();
    if (this.#stream === null || now - this.#last < this.#interval) return;
    const amount = `${doing}: ${documents} documents, ${mib(bytes)} MiB`;
    if (amount === this.#shown) return;
    this.#shown = amount;
    this.#last = now;
    const line = clusterTime === null ? amount : `${amount}, ${secondsBehind(clusterTime)} s behind`;
    this.#stream.write(this.#stream.isTTY ? `${REWRITE}${line}` : `${line}\n`);
  }

  stop() {
    if (this.#stream?.isTTY && this.#shown !== '') this.#stream.write(REWRITE);
    this.#stream = null;
  }
}

function secondsBehind({ high }) {
  return Math.max(0, Math.round(Date.now() / 1000) - (high >>> 0));
}
