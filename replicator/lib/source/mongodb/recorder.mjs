// Takes what is read from a live source: changes to the sink with the position they reach, failures to where they
// are reported, all of it into the account.
import { Applier } from '../../apply.mjs';
import { ISSUES } from '../../changes.mjs';
import { DocumentError } from '../../errors.mjs';
import { namespaceOf } from '../../event-change.mjs';
import { Report } from '../../report.mjs';
import { POSITION_ORDER, placeOf } from './position.mjs';

export class Recorder {
  /** How far the source has been read. @type {import('./position.mjs').Position} */
  position;
  #sink;
  #applier;
  #source;
  #shown;
  #bson;
  #options;
  #report = new Report();
  #storedText = null;

  /**
   * @param {import('../../sink/sink.mjs').Sink} sink
   * @param {{ source: string, shown: string }} names of the source: for the progress in the sink, for messages
   * @param {object} bson the driver's copy
   * @param {Pick<import('./live-run.mjs').LiveOptions, 'limits' | 'limit' | 'onError' | 'skipLog' | 'signal'>} options
   */
  constructor(sink, { source, shown }, bson, options) {
    this.#sink = sink;
    this.#applier = new Applier(sink, options.limits, (tally) => this.#report.countStored(tally));
    this.#source = source;
    this.#shown = shown;
    this.#bson = bson;
    this.#options = options;
  }

  get report() {
    this.#report.sinkTime = this.#applier.sinkTime;
    return this.#report;
  }

  /** Whether no more is to be read: enough has been, or the run was interrupted. */
  get isOver() {
    return this.#report.documents >= this.#options.limit || this.#options.signal?.aborted === true;
  }

  /** Drops what earlier runs have stored. */
  async reset() {
    await this.#sink.reset();
  }

  /** @returns {Promise<string | null>} the text of the position that earlier runs reached */
  async readPosition() {
    this.#storedText = await this.#sink.readPosition(this.#source, POSITION_ORDER);
    return this.#storedText;
  }

  /** A fragment that makes no event whole. */
  pass(position, size) {
    this.position = position;
    this.#report.countFragment(size);
  }

  /**
   * One document or event.
   * @param {import('../../changes.mjs').Change | null} change `null` where it makes none
   * @param {object | null} event what of it names it: `ns` and `documentKey`
   * @param {import('./events.mjs').Failure | null} failure why it could not be converted
   * @param {import('./position.mjs').Position} position behind it
   * @param {number} size in bytes
   * @throws DocumentError for a failure, unless failures are skipped
   */
  take(change, event, failure, position, size) {
    if (failure !== null) this.#fail(failure);
    this.position = position;
    this.#report.count(size, change);
    if (change !== null) {
      const { issue, operation } = change;
      if (issue !== undefined) this.#report.warn(ISSUES[issue], `${operation} of ${this.#placeOf(event)}`);
      this.#applier.add(change, size, () => this.#progressAt(position), placeOf(position));
    }
  }

  /** Whether what waits is to be stored before more is read. */
  get isDue() {
    return this.#applier.isFull;
  }

  /** Has what waits stored, and the position, while more is read. */
  async handOver() {
    await this.#applier.handOver(this.#progressToStore());
  }

  /** Stores what waits, and the position, and waits until that is done. */
  async store() {
    await this.#applier.flush(this.#progressToStore());
  }

  /** What to store beside the rows; `null` where nothing new was read. */
  #progressToStore() {
    const progress = this.#progressAt(this.position);
    if (progress.position === this.#storedText) return null;
    this.#storedText = progress.position;
    return progress;
  }

  #progressAt(position) {
    return { source: this.#source, position: position.toText(this.#bson) };
  }

  #placeOf(event) {
    return this.#describe(namespaceOf(event?.ns), event?.documentKey?._id);
  }

  #describe(namespace, id) {
    const idText = id === undefined ? '' : `, _id ${this.#bson.EJSON.stringify(id)}`;
    return `${namespace ?? 'an event without namespace'}${idText}`;
  }

  #fail({ namespace, id, offset, reason, bytes, cause }) {
    const place = `${this.#shown}: ${this.#describe(namespace, id)}`;
    const error = new DocumentError(place, offset, reason, { cause });
    if (this.#options.onError === 'stop') throw error;
    this.#report.leaveOut(error.message);
    this.#options.skipLog?.document({ place: `${place}: byte ${offset}`, reason, bytes });
  }
}
