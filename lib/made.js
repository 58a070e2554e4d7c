/**
 * What the addon made. It gives nothing, and cannot throw either, while V8 stops JavaScript: the next statement may
 * still run, and must not take the lack of an object for one.
 * @template T
 * @param {T | undefined} value
 * @returns {T}
 */
function made(value) {
  if (value === undefined) throw new Error('Nothing is converted while JavaScript is being stopped');
  return value;
}

module.exports = { made };
