const { buildersOf } = require('./builders.js');
const { getDateRenderMode, invalid } = require('./context.js');
const native = require('./native.js');
const { checkObject, readOptions } = require('./options.js');

/** @typedef {import('../index.js').BatchOptions} BatchOptions */

/** How the addon is told what a batch holds. */
const KINDS = Object.freeze({ changes: 0, documents: 1, auto: 2 });

class NativeSourceRowConverter {
  /** @type {import('./native.js').NativeConverter} */
  #native;
  /** Apart from the others: an own field is one load less on the hottest path. */
  #convertRow;
  #convertChange;
  #finish;
  /** @type {import('../index.js').BsonImplementation} */
  #bson;

  /**
   * @param {import('../index.js').CompatibilityContext | import('../index.js').DateRenderMode} context
   * @param {import('../index.js').ConverterOptions} [options]
   */
  constructor(context, options = {}) {
    const mode = getDateRenderMode(context);
    const { bson, strict, updateDescription, zeroCopy } = readOptions(options);
    const { number, finish } = buildersOf(bson);
    this.#native = native.createConverter(number, mode, strict, updateDescription, zeroCopy);
    this.#convertRow = this.#native.convertRow;
    this.#convertChange = this.#native.convertChange;
    this.#finish = finish;
    this.#bson = bson;
  }

  /** @param {Uint8Array} source */
  rawToSqliteRow(source) {
    return this.#finish(this.#convertRow(source), source);
  }

  /** @param {object} document */
  documentToSqliteRow(document) {
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
      throw invalid('document must be an object that is no array');
    }
    const source = this.#bson.serialize(document);
    return this.#finish(this.#convertRow(source), source).row;
  }

  /** @param {Uint8Array} event */
  convertChange(event) {
    return this.#finish(this.#convertChange(event), event);
  }

  /** @param {Uint8Array} cursor @param {BatchOptions} [options] */
  convertBatch(cursor, options = {}) {
    const { as = 'auto' } = checkObject(options);
    if (!Object.hasOwn(KINDS, as)) throw invalid("options.as must be 'auto', 'changes' or 'documents'");
    return this.#native.convertBatch(cursor, KINDS[as], returnsErrors(options));
  }

  /** @param {readonly Uint8Array[]} buffers @param {Pick<BatchOptions, 'onError'>} [options] */
  convertDocuments(buffers, options = {}) {
    return this.#native.convertDocuments(buffers, returnsErrors(options));
  }
}

/** @param {Pick<BatchOptions, 'onError'>} options */
function returnsErrors(options) {
  const { onError = 'throw' } = checkObject(options);
  if (onError !== 'throw' && onError !== 'return')
    throw invalid("options.onError must be 'throw' or 'return'");
  return onError === 'return';
}

module.exports = { NativeSourceRowConverter };
