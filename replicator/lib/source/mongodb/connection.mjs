// The driver's client as the replicator uses it: raw commands in one session, on the primary.
import { UsageError } from '../../errors.mjs';

/** A connection that says nothing for so long is given up. A cursor's reply takes `maxTimeMS` at most. */
const SOCKET_TIMEOUT_MS = 120_000;
/** A server that cannot be found for so long is a failed attempt: others follow, each of which is reported. */
const SELECTION_TIMEOUT_MS = 5_000;

/** By the name of the option, which the address may set itself. */
const DEFAULTS = {
  appName: 'bsonrow-replicate',
  socketTimeoutMS: SOCKET_TIMEOUT_MS,
  serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
};

export class Connection {
  #client;
  #session;
  #signal;
  #isConnected = false;

  /**
   * @param {typeof import('mongodb')} driver version 6 or 7
   * @param {import('./address.mjs').Address} address
   * @param {AbortSignal} [signal]
   */
  constructor(driver, address, signal) {
    const options = Object.fromEntries(
      Object.entries(DEFAULTS).filter(([name]) => !address.options.has(name.toLowerCase())),
    );
    try {
      this.#client = new driver.MongoClient(address.uri, options);
    } catch (error) {
      throw new UsageError(`the address of the server: ${error.message}`, { cause: error });
    }
    this.#signal = signal;
    // Looking for a server is not ended by a signal.
    signal?.addEventListener('abort', () => this.#isConnected || this.#client.close(), { once: true });
    // A cursor belongs to the session it was opened in.
    this.#session = this.#client.startSession();
  }

  /**
   * @param {string} database
   * @param {object} command
   * @param {boolean} [raw] whether the documents in the reply stay BSON, as `Buffer`s
   * @returns {Promise<object>} the reply
   */
  async command(database, command, raw = true) {
    await this.#connect();
    const db = this.#client.db(database);
    // The server takes the id of a cursor as an int64 only, which a number would not be.
    const options = { raw, promoteLongs: false, signal: this.#signal };
    if (this.#session === undefined) return await db.command(command, options);
    try {
      return await db.command(command, { ...options, session: this.#session });
    } catch (error) {
      if (error.name !== 'MongoCompatibilityError') throw error;
      // A server without sessions, which needs none either.
      await this.#session.endSession();
      this.#session = undefined;
      return await db.command(command, options);
    }
  }

  /** The driver connects by itself, but after a first attempt that failed never again. */
  async #connect() {
    if (this.#isConnected) return;
    await this.#client.connect();
    this.#isConnected = true;
  }

  /** A command that is sent although the run is being stopped, and may fail. */
  async farewell(database, command) {
    await this.#client
      .db(database)
      .command(command, { session: this.#session })
      .catch(() => {});
  }

  /** @returns {Promise<{ name: string, type: string }[]>} */
  async listCollections(database) {
    await this.#connect();
    return await this.#client.db(database).listCollections({}, { nameOnly: true }).toArray();
  }

  async close() {
    await this.#session?.endSession().catch(() => {});
    await this.#client.close().catch(() => {});
  }
}
