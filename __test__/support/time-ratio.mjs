/** Times as ratios to each other: no machine is too slow or too busy for them. */

const ROUNDS = 5;

/**
 * How many times as long `second` takes as `first`, in turn: by the least of some times each, as other work on the
 * machine only adds.
 * @param {() => void} first
 * @param {() => void} second
 */
export function timeRatio(first, second) {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, run] of [first, second].entries()) {
      const start = performance.now();
      run();
      least[index] = Math.min(least[index], performance.now() - start);
    }
  }
  return least[1] / least[0];
}
