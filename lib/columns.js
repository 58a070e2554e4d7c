const { problemOf, quote } = require('./check-text.js');
const { invalid } = require('./context.js');

/**
 * The option `columns` as the addon takes it: names, and their paths where they have such.
 * @param {import('../index.js').ConverterOptions['columns']} columns
 * @returns {{ names?: string[], paths?: string[] }}
 */
function readColumns(columns) {
  if (columns === undefined) return {};
  if (Array.isArray(columns)) {
    const names = Array.from(columns, (name) => checkName(name));
    const seen = new Set();
    const repeated = names.find((name) => seen.size === seen.add(name).size);
    if (repeated !== undefined) throw invalid(`options.columns names ${quote(repeated)} twice`);
    return { names: checkSome(names) };
  }
  // A Set or Map has no properties: to be told that it names nothing would not help.
  if (typeof columns !== 'object' || columns === null || Symbol.iterator in columns) {
    throw invalid('options.columns must be an array of column names or an object of paths by column');
  }
  const names = checkSome(Object.keys(columns).map((name) => checkName(name)));
  const paths = /** @type {Record<string, unknown>} */ (columns);
  return { names, paths: names.map((name) => checkPath(paths[name], name)) };
}

/** @param {string[]} names */
function checkSome(names) {
  if (names.length === 0) throw invalid('options.columns must name at least one column');
  return names;
}

/**
 * @param {unknown} name
 * @returns {string}
 */
function checkName(name) {
  const problem = problemOf(name);
  if (problem !== undefined) throw invalid(`options.columns: ${quote(name)} is no column, ${problem}`);
  return /** @type {string} */ (name);
}

/**
 * @param {unknown} path
 * @param {string} name
 * @returns {string}
 */
function checkPath(path, name) {
  const problem = problemOf(path) ?? (hasEmptySegment(path) ? 'a segment of it is empty' : undefined);
  if (problem !== undefined) {
    throw invalid(`options.columns: ${quote(path)}, of column ${quote(name)}, is no path, ${problem}`);
  }
  return /** @type {string} */ (path);
}

/** @param {unknown} path */
const hasEmptySegment = (path) => String(path).split('.').includes('');

module.exports = { readColumns };
