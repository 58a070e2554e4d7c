// One raw document or change event of a file → one change, by the converter.
import { parseChangeDocument } from 'bsonrow';
import { ConversionError, describeConversion } from './conversion-error.mjs';
import { EventMapper, none, putOf } from './event-change.mjs';

export class ChangeConverter {
  /** Milliseconds spent in the converter of bsonrow. */
  converterTime = 0;
  #converter;
  #isSelected;
  #mapper;

  /**
   * @param {Pick<import('bsonrow').NativeSourceRowConverter, 'rawToSqliteRow'>} converter
   * @param {(namespace: string) => boolean} isSelected
   */
  constructor(converter, isSelected) {
    this.#converter = converter;
    this.#isSelected = isSelected;
    this.#mapper = new EventMapper(isSelected);
  }

  /** A document of a dump: the row it is. */
  fromDocument(bytes, namespace) {
    if (!this.#isSelected(namespace)) return none('document');
    const { row, replicaId } = this.#readRow(bytes, 0);
    return putOf('document', namespace, row, replicaId);
  }

  /** The fields of a change event, its documents left as bytes. */
  readFields(bytes) {
    return this.#call(0, () => parseChangeDocument(bytes));
  }

  /**
   * A change event that is whole. Its document is converted only where the row is wanted: one of another collection may
   * be as it likes.
   * @param {Uint8Array} bytes
   * @param {object} fields what `readFields` gives of them
   * @param {string | null} fallback the namespace of an event that was projected down to none
   */
  fromEvent(bytes, fields, fallback) {
    return this.#mapper.changeOf(fields, fallback, this.#imageOf(fields.fullDocument, bytes));
  }

  #imageOf(document, event) {
    if (document instanceof Uint8Array) {
      return {
        kind: 'document',
        read: () => this.#readRow(document, document.byteOffset - event.byteOffset),
      };
    }
    return { kind: document === null ? 'null' : 'absent' };
  }

  /** `at` is where the document begins in what it was cut from, so that the place of an error counts from there. */
  #readRow(document, at) {
    return this.#call(at, () => this.#converter.rawToSqliteRow(document));
  }

  #call(at, work) {
    const start = performance.now();
    try {
      return work();
    } catch (error) {
      // A wrong argument is a fault of this program, not of the data.
      if (error instanceof TypeError) throw error;
      throw new ConversionError(at + (error.offset ?? 0), describeConversion(error), { cause: error });
    } finally {
      this.converterTime += performance.now() - start;
    }
  }
}
