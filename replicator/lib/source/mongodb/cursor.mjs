// One cursor on the server, by raw commands: opened, asked for more, killed.
import { collectionOf } from '../../namespace.mjs';
import { findCursorId } from './cursor-id.mjs';

export class RawCursor {
  #connection;
  #database;
  #collection;
  #id = 0n;

  /** @param {import('./connection.mjs').Connection} connection */
  constructor(connection) {
    this.#connection = connection;
  }

  /**
   * @param {{ database: string, command: object }} request an `aggregate` or `find`
   * @returns {Promise<Uint8Array>} the `cursor` document of the reply
   */
  async open({ database, command }) {
    this.#database = database;
    return cursorOf(await this.#connection.command(database, command));
  }

  /** What the last reply said. */
  follow({ id, ns }) {
    this.#id = id;
    this.#collection = collectionOf(ns);
  }

  /** The first reply could not be converted; the cursor is there nevertheless. */
  adopt(cursor) {
    const found = findCursorId(cursor);
    if (found !== null) this.follow(found);
  }

  get isOpen() {
    return this.#id !== 0n;
  }

  /**
   * @param {number} batchSize
   * @param {number} [maxTimeMS] how long the server waits for something to come
   * @returns {Promise<Uint8Array>}
   */
  async more(batchSize, maxTimeMS) {
    const command = { getMore: this.#id, collection: this.#collection, batchSize };
    if (maxTimeMS !== undefined) command.maxTimeMS = maxTimeMS;
    return cursorOf(await this.#connection.command(this.#database, command));
  }

  /** So that the server need not keep it until it times out. */
  async kill() {
    if (!this.isOpen) return;
    const id = this.#id;
    this.#id = 0n;
    await this.#connection.farewell(this.#database, { killCursors: this.#collection, cursors: [id] });
  }
}

/** The driver's error, were it to find one. */
class MongoUnexpectedServerResponseError extends Error {
  name = 'MongoUnexpectedServerResponseError';
}

function cursorOf({ cursor }) {
  if (cursor instanceof Uint8Array) return cursor;
  throw new MongoUnexpectedServerResponseError('the reply of the server holds no cursor');
}
