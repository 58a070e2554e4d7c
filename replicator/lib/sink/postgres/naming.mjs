// Names in PostgreSQL for names in MongoDB. PostgreSQL keeps 63 bytes of a name and forgets the rest without a
// word, so a longer name is cut here, and whoever comes second gets a number.

const MAX_NAME_BYTES = 63;

/** Columns that every table has already. */
export const SYSTEM_COLUMNS = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];

/**
 * The wanted name where it fits and is free, else the first of `wanted#2`, `wanted#3`, … that is, cut before the
 * `#` where it must be. PostgreSQL has no empty name: that becomes `_`.
 * @param {string} wanted
 * @param {{ has(name: string): boolean }} taken
 */
export function freeName(wanted, taken) {
  let name = withSuffix(wanted, '');
  for (let number = 2; taken.has(name); number += 1) name = withSuffix(wanted, `#${number}`);
  return name;
}

function withSuffix(wanted, suffix) {
  return cut(wanted === '' ? '_' : wanted, MAX_NAME_BYTES - suffix.length) + suffix;
}

/** The longest beginning, in whole characters, that takes no more bytes than that. */
function cut(text, maxBytes) {
  // No character takes fewer bytes than it has UTF-16 code units.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
