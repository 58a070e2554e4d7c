// The few numbers that a series of rounds is told by.

/** @param {number[]} values at least one */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The median of the rounds' ratios, since the two figures of one round were taken next to each other.
 * @param {number[]} values
 * @param {number[]} others as many
 */
export const medianRatio = (values, others) => median(values.map((value, index) => value / others[index]));

export const rounded = (value, digits) => Number(value.toFixed(digits));
