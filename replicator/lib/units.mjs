// Amounts as they are shown.

export const MIB = 1024 * 1024;

export const mib = (bytes) => (bytes / MIB).toFixed(1);

/** `1 attempt`, `2 attempts`. */
export const countOf = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;
