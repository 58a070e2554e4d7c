// Amounts as they are shown.

export const MIB = 1024 * 1024;

export const mib = (bytes) => (bytes / MIB).toFixed(1);
