// The timing loop: contenders alternate, A B C A B C …, so that a slow moment of the machine meets them all.

/** Milliseconds of a round, about. */
export const durationOf = (quick) => (quick ? 10 : 200);

/** Keeps the last result alive, so that no engine can find a conversion to be of no use. */
const kept = { result: undefined };

/** Milliseconds of `passes` passes over all documents. */
function timePasses(convert, documents, passes) {
  const start = performance.now();
  for (let pass = 0; pass < passes; pass++) {
    for (let index = 0; index < documents.length; index++) kept.result = convert(documents[index]);
  }
  return performance.now() - start;
}

/** How many passes take about `duration` milliseconds. Finding out is also the warm-up. */
function calibrate(convert, documents, duration) {
  for (let passes = 1; ; passes *= 2) {
    const elapsed = timePasses(convert, documents, passes);
    if (elapsed >= duration) return Math.max(1, Math.ceil((passes * duration) / elapsed));
  }
}

/**
 * @param {{ id: string, convert: (bytes: Buffer) => any }[]} contenders
 * @param {Buffer[]} documents
 * @param {{ rounds: number, roundMs: number, parts: number }} options `parts`: what a document counts for
 * @returns {Record<string, number[]>} by contender, the nanoseconds a part of each round
 */
export function measure(contenders, documents, { rounds, roundMs, parts }) {
  const runs = contenders.map(({ id, convert }) => ({
    id,
    convert,
    passes: calibrate(convert, documents, roundMs),
    nanoseconds: [],
  }));
  for (let round = 0; round < rounds; round++) {
    for (const { convert, passes, nanoseconds } of runs) {
      // Each contender pays for its own garbage, within its own round.
      kept.result = undefined;
      globalThis.gc?.();
      const elapsed = timePasses(convert, documents, passes);
      nanoseconds.push((elapsed * 1e6) / (passes * documents.length * parts));
    }
  }
  return Object.fromEntries(runs.map(({ id, nanoseconds }) => [id, nanoseconds]));
}
