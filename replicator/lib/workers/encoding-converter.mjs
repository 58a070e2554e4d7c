// A converter whose rows are MessagePack instead of JavaScript values, for rows that another process applies. It stands
// in for NativeSourceRowConverter in what the replicator uses of it.
import { NativeSourceRowConverter, parseChangeDocument, parseDocumentId } from 'bsonrow';

const MESSAGE = { layout: 'table' };

/** A reply that is not what it should be. */
class ReplyError extends Error {
  name = 'ReplyError';
  code = 'BSONROW_REPLY';
}

export class EncodingConverter {
  #converter;
  #options;

  /**
   * @param {import('bsonrow').DateRenderMode} dateMode
   * @param {import('bsonrow').ConverterOptions} [options]
   */
  constructor(dateMode, options = {}) {
    this.#converter = new NativeSourceRowConverter(dateMode, options);
    this.#options = options.bson === undefined ? undefined : { bson: options.bson };
  }

  /** @returns {{ row: Buffer, replicaId: any }} */
  rawToSqliteRow(document) {
    const row = this.#converter.toMessagePack(document, MESSAGE);
    return { row, replicaId: parseDocumentId(document, this.#options).id };
  }

  /** The fields of a change that the replicator reads. */
  convertChange(event) {
    const fields = parseChangeDocument(event, this.#options);
    const { fullDocument, documentKey } = fields;
    if (!(fullDocument instanceof Uint8Array)) return { ...fields, row: null, replicaId: documentKey?._id };
    try {
      const { row, replicaId } = this.rawToSqliteRow(fullDocument);
      return { ...fields, row, replicaId: documentKey === undefined ? replicaId : documentKey._id };
    } catch (error) {
      const at = fullDocument.byteOffset - event.byteOffset;
      throw placed(error, at, ['fullDocument'], documentKey?._id);
    }
  }

  /**
   * A reply; what cannot be converted is an error in its place.
   * @param {Uint8Array} cursor
   * @param {{ as: 'changes' | 'documents' }} options
   */
  convertBatch(cursor, { as }) {
    const { firstBatch, nextBatch, ...fields } = this.#options.bson.deserialize(cursor, {
      fieldsAsRaw: { firstBatch: true, nextBatch: true },
      promoteBuffers: false,
      useBigInt64: true,
    });
    const sources = firstBatch ?? nextBatch;
    const isReply = typeof fields.id === 'bigint' && typeof fields.ns === 'string' && Array.isArray(sources);
    if (!isReply || !sources.every((source) => source instanceof Uint8Array))
      throw new ReplyError('the reply of the server holds no batch');
    const convert = (source) => (as === 'changes' ? this.convertChange(source) : this.rawToSqliteRow(source));
    const name = firstBatch === undefined ? 'nextBatch' : 'firstBatch';
    const converted = sources.map((source, index) => {
      try {
        return convert(source);
      } catch (error) {
        if (error instanceof TypeError) throw error;
        const at = source.byteOffset - cursor.byteOffset;
        return placed(error, at, [name, String(index)], this.#idOf(source, as, error));
      }
    });
    return { ...fields, byteLength: cursor.length, [as]: converted };
  }

  #idOf(source, as, error) {
    if (as === 'changes') return error._id;
    try {
      return parseDocumentId(source, this.#options).id;
    } catch {
      return undefined;
    }
  }
}

/** The error with its place in what the source was cut from, and the identity of that. */
function placed(error, at, path, id) {
  error.offset = (error.offset ?? 0) + at;
  error.path = [...path, ...(error.path ?? [])];
  if (id !== undefined) error._id = id;
  return error;
}
