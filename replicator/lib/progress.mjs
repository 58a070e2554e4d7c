// Shows how far a run is, on standard error: a bar on a terminal, else a line now and then.
import { Presets, SingleBar } from 'cli-progress';
import { mib } from './units.mjs';

export const LINE_INTERVAL_MS = 5000;

/**
 * @typedef {object} Progress
 * @property {(count: number) => void} addBytes bytes read from the disk
 * @property {(count: number) => void} setDocuments documents read so far
 * @property {() => void} stop
 */

/**
 * @param {number} totalBytes
 * @param {{ quiet: boolean, stream?: NodeJS.WriteStream }} options
 * @returns {Progress}
 */
export function startProgress(totalBytes, { quiet, stream = process.stderr }) {
  if (quiet) return { addBytes() {}, setDocuments() {}, stop() {} };
  return stream.isTTY ? startBar(totalBytes, stream) : startLines(totalBytes, stream);
}

function startBar(totalBytes, stream) {
  const format = '{bar} {percentage}% | {read} of {size} MiB | {documents} documents | {duration_formatted}';
  const bar = new SingleBar({ format, stream, hideCursor: true, etaBuffer: 100 }, Presets.shades_classic);
  const payload = { read: '0.0', size: mib(totalBytes), documents: 0 };
  let bytes = 0;
  bar.start(totalBytes, 0, payload);
  return {
    addBytes(count) {
      bytes += count;
      bar.update(bytes, { read: mib(bytes) });
    },
    setDocuments(documents) {
      bar.update(bytes, { documents });
    },
    stop() {
      bar.stop();
    },
  };
}

function startLines(totalBytes, stream) {
  let bytes = 0;
  let last = performance.now();
  return {
    addBytes(count) {
      bytes += count;
    },
    setDocuments(documents) {
      const now = performance.now();
      if (now - last < LINE_INTERVAL_MS) return;
      last = now;
      stream.write(`${mib(bytes)} of ${mib(totalBytes)} MiB, ${documents} documents\n`);
    },
    stop() {},
  };
}
