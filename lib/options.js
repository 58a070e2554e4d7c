const { readColumns } = require('./columns.js');
const { invalid } = require('./context.js');
const { isMissing } = require('./is-missing.js');

/** @typedef {import('../index.js').BsonImplementation} BsonImplementation */
/** @typedef {import('../index.js').ConverterOptions} ConverterOptions */

/** The options of a converter, and those of a function that builds identities. */
const CONVERTER = new Set(['bson', 'columns', 'lazyJson', 'strict', 'updateDescription', 'zeroCopy']);
const IDENTITY = new Set(['bson']);

/** What is used of an implementation of BSON. */
const PARTS = /** @type {const} */ (['Binary', 'ObjectId', 'Timestamp', 'UUID', 'deserialize', 'serialize']);

/** @type {BsonImplementation | undefined} */
let installed;

/** The peer dependency, loaded when it is wanted. @returns {BsonImplementation} */
function installedBson() {
  try {
    installed ??= /** @type {BsonImplementation} */ (/** @type {unknown} */ (require('bson')));
    return installed;
  } catch (error) {
    if (!isMissing(error)) throw error;
    const message =
      'bsonrow finds no package bson: install version 6 or 7 beside it, or pass yours as options.bson';
    throw new Error(message, { cause: error });
  }
}

/**
 * Refuses what are no options, a name that none has included: a misspelt option would be one that does nothing.
 * @template {object} T
 * @param {T} options
 * @param {ReadonlySet<string>} known
 */
function checkOptions(options, known) {
  if (typeof options !== 'object' || options === null) throw invalid('options must be an object');
  for (const name of Object.keys(options)) {
    if (!known.has(name)) throw invalid(`options.${name} is not an option (known: ${[...known].join(', ')})`);
  }
  return options;
}

/** @param {BsonImplementation} [bson] */
function checkBson(bson = installedBson()) {
  for (const name of PARTS) {
    if (typeof bson?.[name] !== 'function') {
      throw invalid(`options.bson must be the bson package: it has no function ${name}`);
    }
  }
  return bson;
}

/**
 * The implementation that identities are built with, where that is all there is to choose. A number is what
 * `buffers.map(parseDocumentId)` gives, which the functions of these names have always taken.
 * @param {Pick<ConverterOptions, 'bson'> | number} options
 */
function readBson(options) {
  return typeof options === 'number' ? checkBson() : checkBson(checkOptions(options, IDENTITY).bson);
}

/**
 * Options with their defaults.
 * @param {ConverterOptions} options
 * @returns {Required<Omit<ConverterOptions, 'columns'>> & { columns: ReturnType<typeof readColumns> }}
 */
function readOptions(options) {
  const { bson, columns, lazyJson = false } = checkOptions(options, CONVERTER);
  const { strict = false, updateDescription = false, zeroCopy = false } = options;
  const implementation = checkBson(bson);
  for (const [name, value] of Object.entries({ lazyJson, strict, updateDescription, zeroCopy })) {
    if (typeof value !== 'boolean') throw invalid(`options.${name} must be a boolean`);
  }
  return {
    bson: implementation,
    columns: readColumns(columns),
    lazyJson,
    strict,
    updateDescription,
    zeroCopy,
  };
}

module.exports = { checkOptions, installedBson, readBson, readOptions };
