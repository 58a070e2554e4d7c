const { isArrayBuffer, isUint8Array } = require('node:util/types');
const { buildersOf } = require('./builders.js');
const { getDateRenderMode, invalid } = require('./context.js');
const { Jobs } = require('./jobs.js');
const { made } = require('./made.js');
const native = require('./native.js');
const { checkOptions, readOptions } = require('./options.js');

/** @typedef {import('../index.js').AsyncBatchOptions} AsyncBatchOptions */
/** @typedef {import('../index.js').BatchOptions} BatchOptions */
/** @typedef {import('../index.js').MessagePackOptions} MessagePackOptions */

/** How the addon is told what a batch holds. */
const KINDS = Object.freeze({ changes: 0, documents: 1, auto: 2 });
/** How it is told what a message is of. */
const SOURCES = Object.freeze({ change: KINDS.changes, document: KINDS.documents, batch: KINDS.auto });

/** The options of each method that has such. */
const BATCH = new Set(['as', 'onError']);
const BATCH_ASYNC = new Set([...BATCH, 'signal']);
const DOCUMENTS = new Set(['onError']);
const DOCUMENTS_ASYNC = new Set([...DOCUMENTS, 'signal']);
const MESSAGE = new Set(['as', 'layout', 'of', 'onError']);

class NativeSourceRowConverter {
  /** @type {import('./native.js').NativeConverter} */
  #native;
  /** Apart from the others: an own field is one load less on the hottest path. */
  #convertRow;
  #convertChange;
  #finish;
  /** @type {import('../index.js').BsonImplementation} */
  #bson;
  #jobs = new Jobs();

  /**
   * @param {import('../index.js').CompatibilityContext | import('../index.js').DateRenderMode} context
   * @param {import('../index.js').ConverterOptions} [options]
   */
  constructor(context, options = {}) {
    const mode = getDateRenderMode(context);
    const { bson, columns, lazyJson, strict, updateDescription, zeroCopy } = readOptions(options);
    const { number, finish } = buildersOf(bson);
    this.#native = native.createConverter(
      number,
      mode,
      strict,
      updateDescription,
      zeroCopy,
      lazyJson,
      columns.names,
      columns.paths,
    );
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
    checkOptions(options, BATCH);
    return made(this.#native.convertBatch(cursor, kindOf(options), returnsErrors(options)));
  }

  /** @param {readonly Uint8Array[]} buffers @param {Pick<BatchOptions, 'onError'>} [options] */
  convertDocuments(buffers, options = {}) {
    checkOptions(options, DOCUMENTS);
    return made(this.#native.convertDocuments(buffers, returnsErrors(options)));
  }

  /** @param {Uint8Array} cursor @param {AsyncBatchOptions} [options] */
  async convertBatchAsync(cursor, options = {}) {
    checkOptions(options, BATCH_ASYNC);
    const [kind, errors, signal] = [kindOf(options), returnsErrors(options), signalOf(options)];
    const source = unresizable(cursor);
    const { reply } = await this.#jobs.run(
      (onRead) => this.#native.startBatch(source, kind, errors, onRead),
      signal,
    );
    return reply;
  }

  /** @param {readonly Uint8Array[]} buffers @param {Omit<AsyncBatchOptions, 'as'>} [options] */
  async convertDocumentsAsync(buffers, options = {}) {
    checkOptions(options, DOCUMENTS_ASYNC);
    const [errors, signal] = [returnsErrors(options), signalOf(options)];
    // What is no array is refused below.
    const sources = Array.isArray(buffers) ? copyOf(buffers, errors) : buffers;
    const { results } = await this.#jobs.run(
      (onRead) => this.#native.startDocuments(sources, errors, onRead),
      signal,
    );
    return results;
  }

  /** @param {Uint8Array | readonly Uint8Array[]} source @param {MessagePackOptions} [options] */
  toMessagePack(source, options = {}) {
    const { of = 'document', as, layout = 'maps' } = checkOptions(options, MESSAGE);
    if (typeof of !== 'string' || !Object.hasOwn(SOURCES, of))
      throw invalid("options.of must be 'document', 'change' or 'batch'");
    if (layout !== 'maps' && layout !== 'table') throw invalid("options.layout must be 'maps' or 'table'");
    if (of !== 'batch' && as !== undefined) throw invalid("options.as is for options.of: 'batch' only");
    const kind = of === 'batch' ? kindOf(options) : SOURCES[of];
    const isTable = layout === 'table';
    return made(this.#native.toMessagePack(source, kind, of === 'batch', isTable, returnsErrors(options)));
  }
}

/**
 * An array that stays as it is and that nobody else has: it keeps alive what another thread reads. `slice` would leave it
 * to a class of the caller's to make it.
 * @param {readonly Uint8Array[]} buffers
 * @param {boolean} returnsErrors
 */
function copyOf(buffers, returnsErrors) {
  const sources = /** @type {Uint8Array[]} */ ([]).concat(buffers);
  for (let index = 0; index < sources.length; index++) {
    // Those behind an error that is thrown are not read, be it four thousand million holes.
    if (!returnsErrors && !isUint8Array(sources[index])) break;
    sources[index] = unresizable(sources[index]);
  }
  return sources;
}

/** Of any typed array and its memory, whatever these say themselves. */
const getBuffer = /** @type {(this: Uint8Array) => ArrayBufferLike} */ (
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'buffer')?.get
);
const getResizable = /** @type {(this: ArrayBuffer) => boolean} */ (
  Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'resizable')?.get
);

/**
 * A source whose memory stays where it is: a copy of memory that can be made shorter. One that is detached or out of
 * bounds has no bytes, and the addon is to say so.
 * @template T
 * @param {T} source
 */
function unresizable(source) {
  if (!isUint8Array(source)) return source;
  const memory = Reflect.apply(getBuffer, source, []);
  // Shared memory never becomes shorter.
  if (!isArrayBuffer(memory) || !Reflect.apply(getResizable, memory, [])) return source;
  try {
    return /** @type {T & Uint8Array} */ (new Uint8Array(source));
  } catch {
    return source;
  }
}

/** @param {Pick<BatchOptions, 'as'>} options */
function kindOf(options) {
  const { as = 'auto' } = options;
  if (typeof as !== 'string' || !Object.hasOwn(KINDS, as))
    throw invalid("options.as must be 'auto', 'changes' or 'documents'");
  return KINDS[as];
}

/** @param {Pick<AsyncBatchOptions, 'signal'>} options */
function signalOf(options) {
  const { signal } = options;
  if (signal === undefined) return undefined;
  if (!(signal instanceof AbortSignal)) throw invalid('options.signal must be an AbortSignal');
  signal.throwIfAborted();
  return signal;
}

/** @param {Pick<BatchOptions, 'onError'>} options */
function returnsErrors(options) {
  const { onError = 'throw' } = options;
  if (onError !== 'throw' && onError !== 'return')
    throw invalid("options.onError must be 'throw' or 'return'");
  return onError === 'return';
}

module.exports = { NativeSourceRowConverter };
