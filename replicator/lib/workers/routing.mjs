// Which of several processes applies the changes of a collection: always the same, so that their order is kept.

/** Of a name, so many bytes count. */
const COUNTED_BYTES = 40;

/**
 * Collections whose tables may want the same name go to the same process: the one that comes first is to have it, as if
 * there were one process only. A sink may fold the case of names, cut them after 63 bytes, and add a number.
 */
function familyOf(namespace) {
  const name = namespace.toLowerCase().replace(/#\d+$/, '');
  return Buffer.from(name).subarray(0, COUNTED_BYTES);
}

/**
 * @param {string} namespace
 * @param {number} count of processes
 * @returns {number} from 0; the same in every run and on every machine
 */
export function applierOf(namespace, count) {
  if (count === 1) return 0;
  // FNV-1a, whose last bits are mixed into the first for the remainder.
  let hash = 0x811c9dc5;
  for (const byte of familyOf(namespace)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash ^= hash >>> 15;
  return (hash >>> 0) % count;
}
