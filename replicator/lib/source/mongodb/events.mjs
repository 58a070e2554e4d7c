// A reply of the change stream → what each of its events does to rows.
import { parseChangeDocument } from 'bsonrow';
import { ConversionError, describeConversion, describeMerged } from '../../conversion-error.mjs';
import { namespaceOf } from '../../event-change.mjs';
import { rawDocuments } from './reply.mjs';

/**
 * @typedef {object} ReadEvent
 * @property {import('../../changes.mjs').Change | null} change `null` where none could be made
 * @property {import('bsonrow').Change | null} event
 * @property {Failure | null} failure why none could be made
 * @property {boolean} [isFragment] it is one, and makes no event whole
 * @property {unknown} [token] where the stream goes on behind the event; absent where nothing can: it cannot be
 *   read, or is not the last fragment of a split event
 *
 * @typedef {object} Failure
 * @property {string | null} namespace
 * @property {unknown} id `undefined` where it cannot be read
 * @property {number} offset in the reply
 * @property {string} reason
 * @property {Uint8Array} bytes the event or document
 * @property {Error} [cause]
 */

export class EventReader {
  #mapper;
  #bson;
  #fallback;
  #fragments;
  #converter;

  /**
   * @param {import('../../event-change.mjs').EventMapper} mapper
   * @param {object} bson the driver's copy
   * @param {string | null} fallback namespace of events without one
   * @param {import('../fragments.mjs').Fragments} fragments
   * @param {import('bsonrow').NativeSourceRowConverter} converter of events put together from them
   */
  constructor(mapper, bson, fallback, fragments, converter) {
    this.#mapper = mapper;
    this.#bson = bson;
    this.#fallback = fallback;
    this.#fragments = fragments;
    this.#converter = converter;
  }

  /**
   * @param {import('bsonrow').ConvertedBatch} batch converted with `onError: 'return'`
   * @param {Uint8Array} cursor what it was converted from
   * @yields {ReadEvent}
   */
  *read({ changes }, cursor) {
    let documents = null;
    const rawOf = (index) => {
      documents ??= rawDocuments(cursor, this.#bson);
      return documents[index];
    };
    for (let index = 0; index < changes.length; index += 1) {
      const converted = changes[index];
      const isFailed = converted instanceof Error;
      if (isFailed || converted.splitEvent !== undefined || this.#fragments.isWaiting) {
        yield* this.#readFragment(converted, rawOf(index), cursor);
      } else {
        yield this.#readWhole(converted, () => rawOf(index), cursor);
      }
    }
  }

  /** What may be a fragment: those are converted when they are put together. */
  *#readFragment(converted, bytes, cursor) {
    const failure = converted instanceof Error ? converted : null;
    const fields = failure === null ? converted : fieldsOf(bytes, this.#bson);
    if (fields === null) {
      this.#fragments.lose();
      yield this.#failed(
        {},
        { offset: failure.offset, reason: describeConversion(failure), bytes, cause: failure },
      );
      return;
    }
    const { whole, problem } = this.#fragments.take(bytes, fields.splitEvent);
    const offset = bytes.byteOffset - cursor.byteOffset;
    if (problem !== null) yield this.#failed({ ns: fields.ns }, { offset, reason: problem, bytes });
    // Within a split event nothing can be resumed.
    const token = this.#fragments.isWaiting ? undefined : fields._id;
    if (whole === null) {
      yield { change: null, event: null, failure: null, isFragment: true, token };
    } else if (whole !== bytes) {
      yield this.#readMerged(whole, offset);
    } else if (failure !== null) {
      yield this.#failed(fields, {
        offset: failure.offset,
        reason: describeConversion(failure),
        bytes,
        cause: failure,
      });
    } else {
      yield this.#readWhole(converted, () => bytes, cursor);
    }
  }

  #readWhole(event, raw, cursor) {
    try {
      return this.#understand(event, raw);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const bytes = raw();
      const offset = bytes.byteOffset - cursor.byteOffset + error.offset;
      return this.#failed(event, { offset, reason: describeConversion(error), bytes, cause: error });
    }
  }

  /** `offset` is that of the last fragment. */
  #readMerged(bytes, offset) {
    try {
      return this.#understand(this.#convert(bytes), () => bytes);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const fields = parseChangeDocument(bytes, { bson: this.#bson });
      return this.#failed(fields, { offset, reason: describeMerged(error), bytes, cause: error });
    }
  }

  #understand(event, raw) {
    const change = this.#mapper.changeOf(event, this.#fallback, imageOf(event, raw));
    return { change, event, failure: null, token: event._id };
  }

  #convert(bytes) {
    try {
      return this.#converter.convertChange(bytes);
    } catch (error) {
      if (error instanceof TypeError) throw error;
      throw new ConversionError(error.offset ?? 0, describeConversion(error), { cause: error });
    }
  }

  /** @returns {ReadEvent} `fields` are those of the event that could be read */
  #failed(fields, { offset, reason, bytes, cause }) {
    return {
      change: null,
      event: null,
      failure: {
        namespace: namespaceOf(fields.ns) ?? this.#fallback,
        id: fields.documentKey?._id ?? cause?._id,
        offset,
        reason,
        bytes,
        cause,
      },
      token: fields._id,
    };
  }
}

/** An update has no row where its document is gone, but also where a stage of the user's took it away. */
function imageOf(event, raw) {
  if (event.row !== null) return { kind: 'document', read: () => event };
  const isAbsent = event.operationType === 'update' && parseChangeDocument(raw()).fullDocument === undefined;
  return { kind: isAbsent ? 'absent' : 'null' };
}

/** The fields of an event whose documents are damaged; `null` where it is damaged itself. */
function fieldsOf(bytes, bson) {
  try {
    return parseChangeDocument(bytes, { bson });
  } catch {
    return null;
  }
}
