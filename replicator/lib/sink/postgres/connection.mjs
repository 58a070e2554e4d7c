// One connection to a PostgreSQL server: statements out, rows and errors back.
import pg from 'pg';
import { UsageError } from '../../errors.mjs';

const CONNECT_TIMEOUT_MS = 10_000;
/** After so long without a word, the operating system asks whether the other end is still there. */
const KEEP_ALIVE_DELAY_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;
/** After so long without an answer, it is found out whether the server is still at work on it. */
export const SILENCE_MS = 30_000;
/** An answer may be on its way while the session is looked at: once idle is not enough. */
const MAX_IDLE_FOUND = 2;

/** The client's words where the server asks for a password and there is none. */
const NO_PASSWORD = /password must be a (non-empty )?string/;

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
  #address;
  #silenceMs;

  constructor(client, address, silenceMs) {
    this.#client = client;
    this.#address = address;
    this.#silenceMs = silenceMs;
  }

  /**
   * @param {string} address
   * @param {number} [silenceMs] see SILENCE_MS
   */
  static async open(address, silenceMs = SILENCE_MS) {
    return new Connection(
      await connect(address, Math.min(silenceMs, CONNECT_TIMEOUT_MS)),
      address,
      silenceMs,
    );
  }

  /** The server process behind it. */
  get processId() {
    return this.#client.processID;
  }

  /** Rows as arrays. */
  async query(sql, values) {
    try {
      const answer = this.#client.query({ text: sql, values, rowMode: 'array' });
      const { rows } = await this.#whileAtWork(answer);
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
    const results = await this.#whileAtWork(Promise.allSettled(answers));
    const errors = results.filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
    if (errors.length === 0) return;
    throw new DatabaseError(errors.find(({ code }) => code !== IN_FAILED_TRANSACTION) ?? errors[0]);
  }

  async close() {
    await closeClient(this.#client);
  }

  /**
   * Waits for an answer, for hours where the server works on it for hours; but a host that has fallen silent, or a
   * connection that was forgotten on the way, is given up.
   */
  async #whileAtWork(answer) {
    const { stream } = this.#client.connection;
    const isSettled = answer.then(
      () => true,
      () => true,
    );
    let heard = stream.bytesRead;
    let idleFound = 0;
    while (!(await isWithin(isSettled, this.#silenceMs))) {
      if (stream.bytesRead !== heard) {
        heard = stream.bytesRead;
        idleFound = 0;
        continue;
      }
      const state = await this.#findState();
      if (state === 'idle') idleFound += 1;
      if (state === 'lost' || idleFound >= MAX_IDLE_FOUND) {
        stream.destroy(
          new Error(`no answer for ${this.#silenceMs / 1000} s, and the server is not at work on one`),
        );
      }
    }
    return answer;
  }

  /** What the session on the server is doing, found out over another connection. @returns {Promise<'busy' | 'idle' | 'lost'>} */
  async #findState() {
    let client;
    try {
      const timeoutMs = Math.min(this.#silenceMs, CONNECT_TIMEOUT_MS);
      client = await connect(this.#address, timeoutMs);
      const { rows } = await client.query({
        text: 'SELECT state FROM pg_stat_activity WHERE pid = $1',
        values: [this.#client.processID],
        query_timeout: timeoutMs,
      });
      if (rows.length === 0) return 'lost';
      return rows[0].state?.startsWith('idle') ? 'idle' : 'busy';
    } catch (error) {
      // A server that refuses a further connection is there.
      return error instanceof DatabaseError && error.state !== null ? 'busy' : 'lost';
    } finally {
      if (client !== undefined) await closeClient(client);
    }
  }
}

async function connect(address, timeoutMs) {
  const client = makeClient(address, timeoutMs);
  // A loss shows in the statement under way, or in the next one.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    const isFinal = isOfClient(error);
    throw new DatabaseError(
      isFinal && NO_PASSWORD.test(error.message) ? passwordMissing(error) : error,
      isFinal,
    );
  }
  return client;
}

function passwordMissing(cause) {
  return new Error('the server asks for a password, which neither the address nor PGPASSWORD holds', {
    cause,
  });
}

/** A connection that is lost already cannot be closed, and need not be; a host that has fallen silent never answers. */
async function closeClient(client) {
  const { stream } = client.connection;
  await isWithin(
    client.end().catch(() => {}),
    CLOSE_TIMEOUT_MS,
  );
  stream.destroy();
}

/** Whether the promise is settled in this time. */
async function isWithin(promise, milliseconds) {
  let timer;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the client itself has against the server: a password that is missing, TLS that it does not have. */
function isOfClient({ code, errors, message }) {
  return code === undefined && errors === undefined && !/timeout|terminated/.test(message);
}

/** @param {string} address */
function makeClient(address, timeoutMs) {
  try {
    return new pg.Client({
      connectionString: address,
      application_name: 'bsonrow-replicate',
      connectionTimeoutMillis: timeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      // Statements are sent without waiting for the answers to those before.
      pipeline: true,
    });
  } catch (error) {
    // The address is not repeated here: it may hold a password. A certificate is a file that it names.
    const reason =
      error.syscall === undefined
        ? 'is not valid: postgres://user:password@host:port/database, special characters of a password as %XX'
        : `names a file that cannot be read: ${error.message}`;
    throw new UsageError(`the address of the PostgreSQL database ${reason}`, { cause: error });
  }
}
