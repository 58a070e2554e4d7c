// Events that the server has split, put together again.
import { SplitEventMerger } from 'bsonrow';
import { ConversionError, describeConversion } from '../../conversion-error.mjs';
import { InputError } from '../../errors.mjs';

export class Fragments {
  #merger = new SplitEventMerger();
  #converter;
  #name;

  /**
   * @param {import('bsonrow').NativeSourceRowConverter} converter
   * @param {string} name of the stream, for messages
   */
  constructor(converter, name) {
    this.#converter = converter;
    this.#name = name;
  }

  /** Whether some fragments of an event have come, and not yet all. */
  get isWaiting() {
    return this.#merger.pending > 0;
  }

  clear() {
    this.#merger.reset();
  }

  /**
   * The next event, as it came.
   * @returns {{ event: import('bsonrow').Change, bytes: Uint8Array } | null} the whole event with its last
   *   fragment, `null` before that
   * @throws InputError where a fragment is missing: what comes now does not belong to what came before
   * @throws ConversionError for a whole event that cannot be converted
   */
  take(fragment) {
    const bytes = this.#merge(fragment);
    if (bytes === null) return null;
    try {
      return { event: this.#converter.convertChange(bytes), bytes };
    } catch (error) {
      if (error instanceof TypeError) throw error;
      throw new ConversionError(error.offset ?? 0, describeConversion(error), { cause: error });
    }
  }

  #merge(fragment) {
    try {
      return this.#merger.push(fragment);
    } catch (error) {
      if (error.code !== 'BSONROW_SPLIT_EVENT') throw error;
      throw new InputError(this.#name, null, error.message, { cause: error });
    }
  }
}
