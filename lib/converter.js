const { buildersOf } = require('./builders.js');
const { getDateRenderMode, invalid } = require('./context.js');
const native = require('./native.js');
const { readOptions } = require('./options.js');

class NativeSourceRowConverter {
  /** @type {(source: Uint8Array) => { row: import('../index.js').SqliteRow, replicaId: any }} */
  #convert;
  /** @type {import('../index.js').BsonImplementation} */
  #bson;

  /**
   * @param {import('../index.js').CompatibilityContext | import('../index.js').DateRenderMode} context
   * @param {import('../index.js').ConverterOptions} [options]
   */
  constructor(context, options = {}) {
    const mode = getDateRenderMode(context);
    const { bson, strict } = readOptions(options);
    this.#bson = bson;
    this.#convert = native.createConverter(buildersOf(bson), mode, Number(strict));
  }

  /** @param {Uint8Array} source */
  rawToSqliteRow(source) {
    return this.#convert(source);
  }

  /** @param {object} document */
  documentToSqliteRow(document) {
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
      throw invalid('document must be an object that is no array');
    }
    return this.#convert(this.#bson.serialize(document)).row;
  }
}

module.exports = { NativeSourceRowConverter };
