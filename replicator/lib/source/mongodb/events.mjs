// A reply of the change stream → what each of its events does to rows.
import { parseChangeDocument } from 'bsonrow';
import { ConversionError, describeConversion } from '../../conversion-error.mjs';
import { namespaceOf } from '../../event-change.mjs';
import { rawDocuments } from './reply.mjs';

/**
 * @typedef {object} ReadEvent
 * @property {import('../../changes.mjs').Change | null} change `null` where none could be made
 * @property {import('bsonrow').Change | null} event
 * @property {Failure | null} failure why none could be made
 * @property {unknown} [token] where the stream goes on behind the event; absent where nothing can: it cannot be
 *   read, or is not the last fragment of a split event
 *
 * @typedef {object} Failure
 * @property {string | null} namespace
 * @property {unknown} id `undefined` where it cannot be read
 * @property {number} offset in the reply
 * @property {string} reason
 * @property {Uint8Array} bytes the event or document
 * @property {Error} cause
 */

export class EventReader {
  #mapper;
  #bson;
  #fallback;
  #fragments;

  /**
   * @param {import('../../event-change.mjs').EventMapper} mapper
   * @param {object} bson the driver's copy
   * @param {string | null} fallback namespace of events without one
   * @param {import('./fragments.mjs').Fragments} fragments
   */
  constructor(mapper, bson, fallback, fragments) {
    this.#mapper = mapper;
    this.#bson = bson;
    this.#fallback = fallback;
    this.#fragments = fragments;
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
      const change = changes[index];
      yield change instanceof Error
        ? this.#failed(change, rawOf(index), cursor)
        : this.#readOne(change, () => rawOf(index), cursor);
    }
  }

  #readOne(converted, raw, cursor) {
    try {
      const { event, raw: bytes } = this.#wholeEvent(converted, raw);
      if (event === null) return { change: null, event, failure: null };
      const change = this.#mapper.changeOf(event, this.#fallback, imageOf(event, bytes));
      return { change, event, failure: null, token: event._id };
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      return this.#failed(error, raw(), cursor, converted);
    }
  }

  /** The event, `null` before its last fragment, and what gives its bytes. */
  #wholeEvent(converted, raw) {
    if (converted.splitEvent === undefined && !this.#fragments.isWaiting) return { event: converted, raw };
    const whole = this.#fragments.take(raw());
    return whole === null ? { event: null } : { event: whole.event, raw: () => whole.bytes };
  }

  /** `change` is there where the event could be converted, but not understood. */
  #failed(error, bytes, cursor, change) {
    const event = change ?? fieldsOf(bytes, this.#bson);
    const isOfReply = change === undefined;
    return {
      change: null,
      event: null,
      failure: {
        namespace: namespaceOf(event.ns) ?? this.#fallback,
        id: event.documentKey?._id ?? error._id,
        offset: isOfReply ? error.offset : bytes.byteOffset - cursor.byteOffset + error.offset,
        reason: describeConversion(error),
        bytes,
        cause: error,
      },
      token: event._id,
    };
  }
}

/** An update has no row where its document is gone, but also where a stage of the user's took it away. */
function imageOf(event, raw) {
  if (event.row !== null) return { kind: 'document', read: () => event };
  const isAbsent = event.operationType === 'update' && parseChangeDocument(raw()).fullDocument === undefined;
  return { kind: isAbsent ? 'absent' : 'null' };
}

/** The fields of an event whose documents are damaged; none where it is damaged itself. */
function fieldsOf(bytes, bson) {
  try {
    return parseChangeDocument(bytes, { bson });
  } catch {
    return {};
  }
}
