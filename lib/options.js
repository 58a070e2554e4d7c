const { readColumns } = require('./columns.js');
const { invalid } = require('./context.js');

/** @typedef {import('../index.js').BsonImplementation} BsonImplementation */
/** @typedef {import('../index.js').ConverterOptions} ConverterOptions */

const KNOWN = new Set(['bson', 'columns', 'lazyJson', 'strict', 'updateDescription', 'zeroCopy']);

/** What is used of an implementation of BSON. */
const PARTS = /** @type {const} */ (['Binary', 'ObjectId', 'Timestamp', 'UUID', 'deserialize', 'serialize']);

/** @type {BsonImplementation | undefined} */
let installed;

/** The peer dependency, loaded when it is wanted. @returns {BsonImplementation} */
function installedBson() {
  installed ??= /** @type {BsonImplementation} */ (/** @type {unknown} */ (require('bson')));
  return installed;
}

/**
 * @template {object} T
 * @param {T} options
 */
function checkObject(options) {
  if (typeof options !== 'object' || options === null) throw invalid('options must be an object');
  return options;
}

/**
 * Options with their defaults.
 * @param {ConverterOptions} options
 * @returns {Required<Omit<ConverterOptions, 'columns'>> & { columns: ReturnType<typeof readColumns> }}
 */
function readOptions(options) {
  for (const name of Object.keys(checkObject(options))) {
    if (!KNOWN.has(name)) throw invalid(`options.${name} is not an option`);
  }
  const { bson = installedBson(), columns, lazyJson = false } = options;
  const { strict = false, updateDescription = false, zeroCopy = false } = options;
  for (const name of PARTS) {
    if (typeof bson?.[name] !== 'function') {
      throw invalid(`options.bson must be the bson package: it has no function ${name}`);
    }
  }
  for (const [name, value] of Object.entries({ lazyJson, strict, updateDescription, zeroCopy })) {
    if (typeof value !== 'boolean') throw invalid(`options.${name} must be a boolean`);
  }
  return { bson, columns: readColumns(columns), lazyJson, strict, updateDescription, zeroCopy };
}

module.exports = { checkObject, installedBson, readOptions };
