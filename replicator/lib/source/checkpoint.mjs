// How far a capture of change events has been applied, so that a second run goes on from there: applying events
// twice would not end in the same tables (after a rename, the old name's rows would go to the new one again).
// Plain documents need none of it, as storing a document twice is storing it once.
import { createHash } from 'node:crypto';
import { InputError } from '../errors.mjs';

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Events are compared by where they end. @type {import('../positions.mjs').PositionOrder} */
export const CHECKPOINT_ORDER = {
  of: (position) => (position === null ? 0 : JSON.parse(position).end),
  ownerOf: () => null,
};

export class Checkpoint {
  #file;
  /** Names the capture by its first event, wherever the file lies, and what was asked of it. */
  source;
  /** Where the events applied by earlier runs end, and the digest of the last of them, if it is known. */
  #appliedEnd = 0;
  #appliedDigest = null;
  #last = null;
  /** For an event that is kept: one after the other. */
  #memory = Buffer.alloc(0);

  /**
   * @param {string} file
   * @param {Buffer} firstEvent
   * @param {string} request the options that decide what becomes of the events
   */
  constructor(file, firstEvent, request) {
    this.#file = file;
    this.source = `events ${digestOf(firstEvent)} ${request}`;
  }

  /** @param {string | null} position what `progress` gave in an earlier run */
  resume(position) {
    if (position === null) return;
    const { end, digest } = JSON.parse(position);
    this.#appliedEnd = end;
    this.#appliedDigest = digest;
  }

  /**
   * Whether an earlier run has applied this event already.
   * @throws InputError where the events so far are not the ones it applied
   */
  isApplied({ bytes, offset }) {
    if (offset >= this.#appliedEnd) return false;
    const end = offset + bytes.length;
    if (end < this.#appliedEnd) return true;
    const isLast = end === this.#appliedEnd;
    if (isLast && (this.#appliedDigest === null || digestOf(bytes) === this.#appliedDigest)) return true;
    throw new InputError(
      this.#file,
      offset,
      'another capture with the same first event was applied up to here: replicate into a new file, or use --fresh',
    );
  }

  /** This event has been read, and its change is in the batch to be stored next. */
  advance({ bytes, offset }) {
    this.#last = { end: offset + bytes.length, bytes, isKept: false };
  }

  /** The bytes of the last event are about to be written over: they are kept, as its digest is seldom asked for. */
  keep() {
    if (this.#last === null || this.#last.isKept) return;
    const { end, bytes } = this.#last;
    if (this.#memory.length < bytes.length) this.#memory = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(this.#memory);
    this.#last = { end, bytes: this.#memory.subarray(0, bytes.length), isKept: true };
  }

  /** What to store beside the rows; `null` where nothing new was read. */
  progress() {
    if (this.#last === null) return null;
    const progress = this.#progressOf(this.#last.end, digestOf(this.#last.bytes));
    this.#last = null;
    return progress;
  }

  /** What to store where an event that ends there is the last that was applied; its digest is not known any more. */
  progressAt(end) {
    return this.#progressOf(end, null);
  }

  #progressOf(end, digest) {
    return { source: this.source, position: JSON.stringify({ end, digest }) };
  }
}
