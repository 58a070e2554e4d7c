// The replies of a cursor, converted, for as long as there are some: what fails and can be tried again, is.
import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '../../backoff.mjs';
import { describeConversion } from '../../conversion-error.mjs';
import { ConnectionLostError, InputError } from '../../errors.mjs';
import { countOf } from '../../units.mjs';
import { BatchSize } from './batch-size.mjs';
import { RawCursor } from './cursor.mjs';
import { meaningOf } from './errors.mjs';

/** A server that does not wait for events must not be asked without a pause. */
const IDLE_PAUSE_MS = 20;
/** While a reply of more than this is stored, no further one is held. */
const MAX_BYTES_AHEAD = 6 * 1024 * 1024;
/** Replies that cannot be read, one after the other, before the reading ends. */
const MAX_MALFORMED = 2;

/**
 * @typedef {object} BatchRequest
 * @property {string} name what is read, for messages
 * @property {(batchSize: number) => { database: string, command: object }} open the command that goes on behind
 *   what has been taken so far
 * @property {(cursor: Uint8Array) => import('bsonrow').ConvertedBatch} convert
 * @property {boolean} isStream whether the cursor never ends, and waits for more
 */

export class BatchReader {
  #connection;
  #options;
  #backoff;
  #batchSize;
  #malformed = 0;

  /**
   * @param {import('./connection.mjs').Connection} connection
   * @param {object} options
   * @param {number} options.batchSize documents in a reply, at most
   * @param {number} options.maxTimeMs how long the server waits for an event
   * @param {number} options.retries
   * @param {number} options.retryDelay
   * @param {(message: string) => void} options.onWarning
   * @param {AbortSignal} [options.signal]
   */
  constructor(connection, options) {
    this.#connection = connection;
    this.#options = options;
    this.#backoff = new Backoff(options);
    this.#batchSize = new BatchSize(options.batchSize);
  }

  /**
   * A batch has been taken when the next is asked for.
   * @param {BatchRequest} request
   * @yields {{ batch: import('bsonrow').ConvertedBatch, cursor: Uint8Array, hasWaited: boolean }} `hasWaited`:
   *   the server was given time for something to come
   * @throws InputError where it cannot go on
   */
  async *read(request) {
    const cursor = new RawCursor(this.#connection);
    let next = null;
    try {
      while (!this.#isStopped) {
        try {
          const isFirst = !cursor.isOpen;
          const bytes = await (next ?? this.#ask(cursor, request));
          next = null;
          const batch = convert(request, bytes, cursor);
          cursor.follow(batch);
          const { length } = batch.changes ?? batch.documents;
          const isEmpty = length === 0;
          this.#batchSize.received(batch.byteLength, length);
          // That a cursor could be opened says nothing yet: it may fail at the same place again.
          if (!isFirst || !isEmpty) this.#succeeded();
          // The server works on the next reply while this one is stored. There is never more than one ahead, and none
          // beside a large one.
          const isLarge = bytes.length > MAX_BYTES_AHEAD;
          if (cursor.isOpen && !isEmpty && !isLarge) next = ahead(this.#ask(cursor, request));
          yield { batch, cursor: bytes, hasWaited: !isFirst };
          if (!cursor.isOpen && !request.isStream) return;
          if (isEmpty) await sleep(IDLE_PAUSE_MS);
        } catch (error) {
          if (this.#isStopped) return;
          await next?.catch(() => {});
          next = null;
          await cursor.kill();
          await this.#recover(request.name, error);
        }
      }
    } finally {
      await next?.catch(() => {});
      await cursor.kill();
    }
  }

  /** One command, tried again like the reading of a cursor. */
  async retry(name, work) {
    for (;;) {
      try {
        const result = await work();
        this.#succeeded();
        return result;
      } catch (error) {
        if (this.#isStopped) throw error;
        await this.#recover(name, error);
      }
    }
  }

  get #isStopped() {
    return this.#options.signal?.aborted === true;
  }

  #ask(cursor, { open, isStream }) {
    const { current } = this.#batchSize;
    if (!cursor.isOpen) return cursor.open(open(current));
    return cursor.more(current, isStream ? this.#options.maxTimeMs : undefined);
  }

  #succeeded() {
    this.#backoff.succeeded();
    this.#batchSize.succeeded();
    this.#malformed = 0;
  }

  /**
   * Waits until it may be tried again.
   * @throws InputError or ConnectionLostError where it may not
   */
  async #recover(name, error) {
    const reason = describeConversion(error);
    const fail = (more = '') => {
      throw new InputError(name, error.offset ?? null, `${reason}${more}`, { cause: error });
    };
    switch (meaningOf(error)) {
      case 'malformed':
        this.#malformed += 1;
        if (this.#malformed >= MAX_MALFORMED)
          fail(': the reply cannot be read, nor could it the time before');
        break;
      case 'tooLarge':
        if (!this.#batchSize.halve()) fail();
        break;
      case 'timeout':
        this.#batchSize.halve();
        break;
      case 'history':
        fail(': the server no longer has the changes to go on from, begin again with --fresh');
        break;
      case 'other':
        // What has no name of the driver's is a fault of this program.
        if (!error.name?.startsWith('Mongo')) throw error;
        fail();
    }
    const place = error.offset === undefined ? '' : `byte ${error.offset}: `;
    const next = this.#backoff.failed();
    if (next === null) {
      if (this.#isStopped) return;
      const message = `${name}: ${place}${reason}: given up after ${countOf(this.#backoff.failures, 'attempt')}`;
      throw new ConnectionLostError(message, { cause: error });
    }
    this.#options.onWarning(`${name}: ${place}${reason}; ${next.notice}`);
    await next.wait();
  }
}

function convert(request, bytes, cursor) {
  try {
    return request.convert(bytes);
  } catch (error) {
    if (!cursor.isOpen) cursor.adopt(bytes);
    throw error;
  }
}

/** A promise that is awaited later: its failure is not unhandled until then. */
function ahead(promise) {
  promise.catch(() => {});
  return promise;
}
