const { invalid } = require('./context.js');

/** @typedef {import('../index.js').BsonImplementation} BsonImplementation */
/** @typedef {import('../index.js').ConverterOptions} ConverterOptions */

const KNOWN = new Set(['bson', 'strict', 'updateDescription']);

/** @type {BsonImplementation | undefined} */
let installed;

/** The peer dependency, loaded when it is wanted. @returns {BsonImplementation} */
function installedBson() {
  installed ??= /** @type {BsonImplementation} */ (/** @type {unknown} */ (require('bson')));
  return installed;
}

/**
 * Options with their defaults.
 * @param {ConverterOptions} options
 * @returns {Required<ConverterOptions>}
 */
function readOptions(options) {
  if (typeof options !== 'object' || options === null) throw invalid('options must be an object');
  for (const name of Object.keys(options)) {
    if (!KNOWN.has(name)) throw invalid(`options.${name} is not an option`);
  }
  const { bson = installedBson(), strict = false, updateDescription = false } = options;
  for (const name of /** @type {const} */ (['ObjectId', 'Timestamp', 'deserialize', 'serialize'])) {
    if (typeof bson?.[name] !== 'function') {
      throw invalid(`options.bson must be the bson package: it has no function ${name}`);
    }
  }
  for (const [name, value] of Object.entries({ strict, updateDescription })) {
    if (typeof value !== 'boolean') throw invalid(`options.${name} must be a boolean`);
  }
  return { bson, strict, updateDescription };
}

module.exports = { installedBson, readOptions };
