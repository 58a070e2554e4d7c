/**
 * Why a text can be no name of an element, nor part of a path to one; undefined where it can.
 * @param {unknown} text
 */
function problemOf(text) {
  if (typeof text !== 'string') return 'it is not a string';
  if (text === '') return 'it is empty';
  // No name in BSON has these.
  if (text.includes('\0')) return 'it has a NUL character';
  return /\p{Surrogate}/u.test(text) ? 'it has a surrogate without its other half' : undefined;
}

/**
 * A value for a message.
 * @param {unknown} value
 */
function quote(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  // Some objects have no string.
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

module.exports = { problemOf, quote };
