// Events that the server has split (`$changeStreamSplitLargeEvent`), put together again.
import { SplitEventMerger } from 'bsonrow';

export class Fragments {
  #merger = new SplitEventMerger();
  /** How many fragments the event has that waits. */
  #of = 0;
  /**
   * Fragments passed over: `rest`, those of an event known to be under way; `any`, those that begin no event, as the
   * one before could not be read and may have been their first; `null`, none.
   */
  #passing = null;

  /** Whether the stream stands within an event. To go on from there would be to begin with its middle. */
  get isWaiting() {
    return this.#merger.pending > 0 || this.#passing === 'rest';
  }

  /** The fragment that is to come next, in words; `null` where none is. */
  get missing() {
    const { pending } = this.#merger;
    return pending === 0 ? null : `fragment ${pending + 1} of ${this.#of}`;
  }

  clear() {
    this.#merger.reset();
    this.#passing = null;
  }

  /**
   * The next event of the stream, as it came.
   * @param {Uint8Array} bytes
   * @param {{ fragment: number, of: number } | undefined} splitEvent what it holds under this name
   * @returns {{ whole: Uint8Array | null, problem: string | null }} `whole`: this event, or with its last fragment the
   *   one put together; `null` for any other fragment, and for those of an event that is passed over. `problem`: which
   *   fragment is missing, or came again; the event it is one of will not come
   */
  take(bytes, splitEvent) {
    const fragment = Number(splitEvent?.fragment ?? 0);
    const of = Number(splitEvent?.of ?? 0);
    if (this.#passing !== null && fragment > 1) {
      this.#passing = fragment < of ? 'rest' : null;
      return { whole: null, problem: null };
    }
    this.#passing = null;
    try {
      return { whole: this.#push(bytes, of), problem: null };
    } catch (error) {
      if (error.code !== 'BSONROW_SPLIT_EVENT') throw error;
      return { whole: this.#begin(bytes, fragment, of), problem: error.message };
    }
  }

  /** The next event cannot be read, not even whether it is a fragment. */
  lose() {
    const { pending } = this.#merger;
    if (pending > 0) {
      this.#merger.reset();
      this.#passing = pending + 1 < this.#of ? 'rest' : null;
    } else {
      this.#passing ??= 'any';
    }
  }

  #push(bytes, of) {
    const whole = this.#merger.push(bytes);
    this.#of = of;
    return whole;
  }

  /** What does not go on with the event before may be another, or the first fragment of one. */
  #begin(bytes, fragment, of) {
    try {
      return this.#push(bytes, of);
    } catch {
      this.#passing = fragment < of ? 'rest' : null;
      return null;
    }
  }
}
