// One connection to a PostgreSQL server: statements out, rows and errors back.
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { UsageError } from '../../errors.mjs';

const CONNECT_TIMEOUT_MS = 10_000;
/** After so long without a word, the operating system asks whether the other end is still there. */
const KEEP_ALIVE_DELAY_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;

/** What the server answers to everything between an error and the end of its transaction. */
const IN_FAILED_TRANSACTION = '25P02';

/** @typedef {{ sql: string, values?: unknown[], name?: string }} Statement */

/** What the server answered, or how the connection failed. */
export class DatabaseError extends Error {
  name = 'DatabaseError';
  #isFinal;

  /** @param {boolean} [isFinal] whether it will be no other in a while, though it is not the server that spoke */
  constructor(cause, isFinal = false) {
    // Of several addresses of one host, none of which could be reached, the first will do.
    const { message, detail, code } = cause.errors?.[0] ?? cause;
    super([message, detail].filter(Boolean).join(': ') || code, { cause });
    /** PostgreSQL's SQLSTATE; `null` where it was not the server that spoke. */
    this.state = cause instanceof pg.DatabaseError ? cause.code : null;
    this.#isFinal = isFinal;
  }

  /** Whether it may be otherwise in a while: the connection is gone, or the server asks to try again. */
  get isPassing() {
    if (this.state === null) return !this.#isFinal;
    return /^(08|40|25P03|53300|55P03|57P0)/.test(this.state);
  }

  /**
   * Whether it is this row that cannot be stored: its data, a constraint, a limit, a trigger, or something that
   * depends on its table. All else (a full disk, a right that is missing) concerns any row.
   */
  get isRefusal() {
    return this.state !== null && /^(0A|22|23|2BP01|44|54|P0001)/.test(this.state);
  }
}

export class Connection {
  /** How many statements have been prepared under a name; they live as long as the connection. */
  named = 0;
  #client;

  constructor(client) {
    this.#client = client;
  }

  static async open(address) {
    const client = makeClient(address);
    // A loss shows in the statement under way, or in the next one.
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      throw new DatabaseError(error, isOfClient(error));
    }
    return new Connection(client);
  }

  /** The server process behind it. */
  get processId() {
    return this.#client.processID;
  }

  /** Rows as arrays. */
  async query(sql, values) {
    try {
      const { rows } = await this.#client.query({ text: sql, values, rowMode: 'array' });
      return rows;
    } catch (error) {
      throw new DatabaseError(error);
    }
  }

  /**
   * Sends statements without waiting for the answers to those before.
   * @param {Iterable<Statement>} statements made while the server is at work on the ones before
   * @throws DatabaseError of the first that fails
   */
  async execute(statements) {
    const answers = [];
    for (const { sql, values, name } of statements) {
      const answer = this.#client.query({ text: sql, values, name });
      // Looked at below, when all are sent.
      answer.catch(() => {});
      answers.push(answer);
    }
    const results = await Promise.allSettled(answers);
    const errors = results.filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
    if (errors.length === 0) return;
    throw new DatabaseError(errors.find(({ code }) => code !== IN_FAILED_TRANSACTION) ?? errors[0]);
  }

  async close() {
    const { stream } = this.#client.connection;
    // A connection that is lost already cannot be closed, and need not be; a host that has fallen silent never answers.
    await Promise.race([
      this.#client.end().catch(() => {}),
      setTimeout(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    stream.destroy();
  }
}

/** What the client itself has against the server: a password that is missing, TLS that it does not have. */
function isOfClient({ code, errors, message }) {
  return code === undefined && errors === undefined && !/timeout|terminated/.test(message);
}

/** @param {string} address */
function makeClient(address) {
  try {
    return new pg.Client({
      connectionString: address,
      application_name: 'bsonrow-replicate',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      // Statements are sent without waiting for the answers to those before.
      pipeline: true,
    });
  } catch (error) {
    // The address is not repeated here: it may hold a password.
    throw new UsageError(
      'the address of the PostgreSQL database is not valid: write special characters of a password as %XX',
      { cause: error },
    );
  }
}
