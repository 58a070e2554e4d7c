const { problemOf, quote } = require('./check-text.js');
const { DateRenderMode, invalid, isMode } = require('./context.js');
const native = require('./native.js');
const { checkOptions } = require('./options.js');

/** @typedef {import('../index.js').JsonExtractOptions} JsonExtractOptions */

const KNOWN = new Set(['as', 'mode']);

/**
 * @param {Uint8Array} source
 * @param {string | number | bigint} path
 * @param {JsonExtractOptions} [options]
 */
function jsonExtract(source, path, options = {}) {
  const { as = 'json', mode = DateRenderMode.ISO_MILLISECONDS } = checkOptions(options, KNOWN);
  if (as !== 'json' && as !== 'value') throw invalid("options.as must be 'json' or 'value'");
  if (!isMode(mode)) throw invalid('options.mode must be a DateRenderMode: 0, 1 or 2');
  const extracted = native.jsonExtract(source, readPath(path), as === 'value', mode);
  if (extracted === undefined) throw invalid(`path ${quote(path)} is no path into JSON`);
  return extracted;
}

/**
 * A path as a string.
 * @param {unknown} path
 * @returns {string}
 */
function readPath(path) {
  if (typeof path === 'bigint' || Number.isSafeInteger(path)) {
    // From the end where it is below zero.
    return Number(path) < 0 ? `$[#${path}]` : `$[${path}]`;
  }
  const problem = typeof path === 'string' ? problemOf(path) : 'it is neither a string nor a safe integer';
  if (problem !== undefined) throw invalid(`path ${quote(path)} is no path into JSON, ${problem}`);
  return /** @type {string} */ (path);
}

module.exports = { jsonExtract };
