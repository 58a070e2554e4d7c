// How far a live source has been replicated, as the text that a sink keeps.

/** What a server makes: the bytes of a token are in the order of the events, and so are their hexadecimal digits. */
const COMPARABLE_TOKEN = /^82[0-9A-F]{16,}$/;

/**
 * Where a position stands in the stream, as text that compares as the places do; `null` where that cannot be said, as
 * within a snapshot.
 */
export function placeOf({ start, pending = [] }) {
  if (pending.length > 0) return null;
  const token = (start.resumeAfter ?? start.startAfter)?._data;
  // Where no event has been read yet, the stream begins at a time.
  if (start.startAtOperationTime !== undefined) return '';
  return COMPARABLE_TOKEN.test(token) ? token : null;
}

/** Of a position's text. @type {import('../../positions.mjs').PositionOrder} */
export const POSITION_ORDER = {
  of: (text) => (text === null ? null : placeOf(JSON.parse(text))),
  ownerOf: (text) => (text === null ? null : (JSON.parse(text).pending?.[0] ?? null)),
};

/** Never changed, so that each change that waits for the sink can keep the one that belongs to it. */
export class Position {
  /**
   * @param {object} fields
   * @param {object} fields.start where the change stream begins: `resumeAfter`, `startAfter` or
   *   `startAtOperationTime`
   * @param {string[]} [fields.pending] collections whose snapshot is not complete; the first may be under way
   * @param {{ id: unknown } | null} [fields.last] the `_id` of the last document of it that has been read
   * @param {object | null} [fields.snapshotEnd] the time of the server when the last snapshot was complete
   */
  constructor({ start, pending = [], last = null, snapshotEnd = null }) {
    this.start = start;
    this.pending = pending;
    this.last = last;
    this.snapshotEnd = snapshotEnd;
  }

  /** @param {{ EJSON: object }} bson the driver's copy */
  static parse(text, { EJSON }) {
    return new Position(EJSON.parse(text, { relaxed: false }));
  }

  toText({ EJSON }) {
    return EJSON.stringify({ ...this }, { relaxed: false });
  }

  afterDocument(id) {
    return new Position({ ...this, last: { id } });
  }

  afterCollection() {
    return new Position({ ...this, pending: this.pending.slice(1), last: null });
  }

  /** All snapshots are complete. */
  afterSnapshots(time) {
    return new Position({ ...this, snapshotEnd: time });
  }

  /** An event has been read, or an empty reply. */
  afterEvent(token) {
    return new Position({ ...this, start: { resumeAfter: token } });
  }

  /** The stream has ended with what it watched; only `startAfter` goes on behind that. */
  afterStream(token) {
    return new Position({ ...this, start: { startAfter: token } });
  }

  withSnapshotOf(namespace) {
    return new Position({ ...this, pending: [namespace], last: null });
  }
}
