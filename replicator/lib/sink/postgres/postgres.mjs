// The sink of a PostgreSQL schema: one table a collection, one row a document.
import { createHash, randomUUID } from 'node:crypto';
import { Backoff } from '../../backoff.mjs';
import { EncodedText } from '../../encoded-text.mjs';
import { ConnectionLostError, RefusedError, SinkError } from '../../errors.mjs';
import { isEntryOf, resumeAlone } from '../../positions.mjs';
import { toRuns } from '../../runs.mjs';
import { countOf } from '../../units.mjs';
import { describeChange } from '../describe.mjs';
import { quoteName } from '../naming.mjs';
import { applyStructure } from '../structure.mjs';
import { KEY_COLUMN, OVERFLOW_COLUMN } from '../tables.mjs';
import { Catalog, SCHEMA } from './catalog.mjs';
import { Connection, DatabaseError } from './connection.mjs';
import { prepared, removal, unstorable, upsert } from './statements.mjs';

/** The first version whose numeric has infinities. */
const MIN_SERVER_VERSION = 14;

/** A connection that has so many statements prepared gives way to a new one, as only that forgets them. */
const MAX_NAMED_STATEMENTS = 1000;

/**
 * Few enough that the server soon has something to do, and that a statement fits into the buffer of a socket; enough that
 * the cost of a statement does not count.
 */
const ROWS_IN_STATEMENT = 100;
/** Values are copied twice on their way into a statement, so it must not hold many that are large. */
const BYTES_IN_STATEMENT = 1024 * 1024;

/** The session of a run that was just ended may hold the lock for a moment, however few attempts are wanted. */
const MIN_LOCK_RETRIES = 3;

/** Any number that other programs are not likely to lock. */
const LOCK_CLASS = 0x62736f6e;
/** Of several processes that write side by side, each has a lock of its own besides. */
const PART_LOCK_CLASS = LOCK_CLASS + 1;

const BEGIN = { sql: 'BEGIN' };
const COMMIT = { sql: 'COMMIT' };

/** @implements {import('../sink.mjs').Sink} */
export class PostgresSink {
  #address;
  #silenceMs;
  #onWarning;
  #onRefused;
  #isSelected;
  #retry;
  #part;
  /** `null` while it is lost. */
  #connection = null;
  #hasConnected = false;
  /** The server process of the connection that was lost. */
  #lostProcess = null;
  #catalog;
  /** What the batch at hand is to do: filled by the catalogue and by the runs, in their order. */
  #planned = [];
  /** Names each batch, so that after a loss of connection it can be told whether it was stored. */
  #session = randomUUID();
  #batches = 0;
  /** Why the sink was given up: it is not tried yet again for what comes after. */
  #givenUp = null;
  /** Source → the batch that is known to be its last. */
  #lastBatch = new Map();

  /** @param {import('../sink.mjs').SinkOptions & { silenceMs?: number }} options `silenceMs`: see connection.mjs */
  constructor(
    address,
    { onWarning, onRefused = null, retry, silenceMs, isSelected = () => true, part = { index: 0, count: 1 } },
  ) {
    this.#address = address;
    this.#silenceMs = silenceMs;
    this.#onWarning = onWarning;
    this.#onRefused = onRefused;
    this.#retry = retry;
    this.#isSelected = isSelected;
    this.#part = part;
    this.#catalog = new Catalog((sql, values) => {
      this.#planned.push({ sql, values });
    }, part);
  }

  /**
   * @param {string} address
   * @param {ConstructorParameters<typeof PostgresSink>[1]} options
   */
  static async open(address, options) {
    const sink = new PostgresSink(address, options);
    await sink.#retrying(async () => {});
    return sink;
  }

  async readPosition(source) {
    return resumeAlone(this, source);
  }

  /** That no earlier run writes any more is what the lock is for. */
  async claim(source) {
    const rows = await this.#retrying(() =>
      this.#connection.query('SELECT source, position, batch FROM _bsonrow_progress'),
    );
    const entries = rows.filter(([name]) => isEntryOf(source, name));
    for (const [name, , batch] of entries) this.#lastBatch.set(name, batch);
    return new Map(entries.map(([name, position]) => [name, position]));
  }

  async refresh() {
    await this.#retrying(() => this.#loadCatalog());
    // Entries may have been taken out in favour of another.
    this.#lastBatch.clear();
  }

  async apply(changes, progress) {
    const storable = this.#withoutUnstorable(changes);
    this.#batches += 1;
    const batch = `${this.#session} ${this.#batches}`;
    await this.#retrying(async (isAgain) => {
      // The answer to COMMIT may have been lost, rather than the batch.
      if (isAgain && progress !== null && (await this.#isStored(progress.source, batch))) return;
      await this.#store(storable, progress, batch);
    });
    if (progress === null) return;
    this.#lastBatch.set(progress.source, batch);
    for (const name of progress.forget ?? []) this.#lastBatch.delete(name);
  }

  async reset() {
    await this.#retrying(async () => {
      for (const [namespace] of this.#catalog.entries()) this.#catalog.drop(namespace);
      await this.#transact([...this.#takePlanned(), { sql: 'DELETE FROM _bsonrow_progress' }]);
    });
  }

  async tables(isWanted = () => true) {
    return this.#retrying(async () => {
      const infos = [];
      for (const [namespace, table] of this.#catalog.entries()) {
        if (!isWanted(namespace)) continue;
        const [[rows]] = await this.#connection.query(`SELECT count(*) FROM ${table.quotedName}`);
        infos.push({ namespace, table: table.name, rows: Number(rows) });
      }
      return infos;
    });
  }

  async firstRows(namespace, count) {
    return this.#retrying(async () => {
      const table = this.#catalog.find(namespace);
      const columns = table.columns.map(({ name }) => name);
      if (table.hasOverflow) columns.push(OVERFLOW_COLUMN);
      const list = columns.map(quoteName).join(', ') || 'NULL';
      const sql = `SELECT ${list} FROM ${table.quotedName} ORDER BY ${KEY_COLUMN} LIMIT $1`;
      return { columns, rows: await this.#connection.query(sql, [count]) };
    });
  }

  async close() {
    await this.#connection?.close();
    this.#connection = null;
  }

  /** Opens a connection that is alone in writing to the schema, and reads the catalogue. */
  async #connect() {
    const connection = await Connection.open(this.#address, this.#silenceMs);
    try {
      const [[version, schema]] = await connection.query(
        "SELECT current_setting('server_version_num')::int / 10000, current_schema()",
      );
      if (version < MIN_SERVER_VERSION)
        throw new SinkError(`PostgreSQL ${version} is too old: ${MIN_SERVER_VERSION} or later is needed`);
      if (schema === null)
        throw new SinkError('the PostgreSQL database has no schema to write to (search_path)');
      await this.#lock(connection, schema);
      await connection.execute([
        // No notices about tables that are there already.
        { sql: 'SET client_min_messages = warning' },
        // The default, which the texts of doubles depend on.
        { sql: 'SET extra_float_digits = 1' },
        { sql: SCHEMA },
      ]);
      this.#planned = [];
      await this.#loadCatalog(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#hasConnected = true;
    this.#lostProcess = null;
  }

  /**
   * A session that was cut off may still be at work on the server, and its last transaction may yet be committed.
   * The lock is held as long as that lasts; it also keeps two replicators apart.
   */
  async #lock(connection, schema) {
    const key = createHash('sha256').update(schema).digest().readInt32BE(0);
    if (this.#part.count === 1) {
      await this.#takeLock(connection, schema, 'pg_try_advisory_lock', LOCK_CLASS, key);
      return;
    }
    // Alone for a moment, the first process knows that nobody of another run is left; then it lets the others in.
    const isFirst = this.#part.index === 0 && !this.#hasConnected;
    if (isFirst) await this.#takeLock(connection, schema, 'pg_try_advisory_lock', LOCK_CLASS, key);
    await this.#takeLock(connection, schema, 'pg_try_advisory_lock_shared', LOCK_CLASS, key);
    if (isFirst) await connection.query('SELECT pg_advisory_unlock($1, $2)', [LOCK_CLASS, key]);
    // A session of this process that was cut off holds this one.
    const own = (key + this.#part.index) | 0;
    await this.#takeLock(connection, schema, 'pg_try_advisory_lock', PART_LOCK_CLASS, own);
  }

  async #takeLock(connection, schema, take, lockClass, key) {
    const backoff = new Backoff({ ...this.#retry, retries: Math.max(this.#retry.retries, MIN_LOCK_RETRIES) });
    while (true) {
      const [[isLocked]] = await connection.query(`SELECT ${take}($1, $2)`, [lockClass, key]);
      if (isLocked) return;
      if (this.#lostProcess !== null) {
        await connection.query(
          'SELECT pg_terminate_backend(pid) FROM pg_locks ' +
            "WHERE locktype = 'advisory' AND classid = $1 AND objid = $2::bigint::oid AND pid = $3",
          [lockClass, key >>> 0, this.#lostProcess],
        );
      }
      // A session that is ending right now is no matter.
      if (backoff.failures === 1)
        this.#onWarning(`waiting for another session that writes to the schema ${schema}`);
      const next = backoff.failed();
      if (next === null || !(await next.wait())) {
        throw new SinkError(
          `another session is writing to the schema ${schema}: it holds the replicator's lock`,
        );
      }
    }
  }

  /** Does it, and again on a new connection where the connection is lost. */
  async #retrying(work) {
    if (this.#givenUp !== null) throw this.#givenUp;
    const backoff = new Backoff(this.#retry);
    while (true) {
      try {
        if (this.#connection !== null && this.#connection.named > MAX_NAMED_STATEMENTS)
          await this.#disconnect();
        if (this.#connection === null) await this.#connect();
        return await work(backoff.failures > 0);
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error;
        if (!error.isPassing) {
          const subject = this.#hasConnected ? 'PostgreSQL' : 'the PostgreSQL database cannot be opened';
          throw new SinkError(`${subject}: ${error.message}`, { cause: error });
        }
        const subject = this.#hasConnected
          ? 'the connection to PostgreSQL is lost'
          : 'PostgreSQL cannot be reached';
        const reason = `${subject}: ${error.message}`;
        await this.#disconnect();
        const next = backoff.failed();
        if (next !== null) this.#onWarning(`${reason}; ${next.notice}`);
        if (next === null || !(await next.wait())) {
          const attempts = backoff.failures - 1;
          const message = attempts === 0 ? reason : `${reason}; tried again ${countOf(attempts, 'time')}`;
          this.#givenUp = new ConnectionLostError(message, { cause: error });
          throw this.#givenUp;
        }
      }
    }
  }

  async #disconnect() {
    this.#lostProcess = this.#connection?.processId ?? this.#lostProcess;
    await this.close();
  }

  #loadCatalog(connection = this.#connection) {
    return this.#catalog.load((sql) => connection.query(sql));
  }

  #readProgress(source) {
    return this.#connection.query(
      'SELECT position, batch FROM _bsonrow_progress WHERE source_digest = sha256($1::bytea)',
      [Buffer.from(source)],
    );
  }

  /** Whether the batch had been stored when the connection was lost. */
  async #isStored(source, batch) {
    const [found] = await this.#readProgress(source);
    if (found?.[1] === batch) return true;
    if (found?.[1] === this.#lastBatch.get(source)) return false;
    throw new SinkError(
      'PostgreSQL has lost what it had confirmed (another server took over, or a backup was restored): ' +
        'start again, to go on from what it has',
    );
  }

  /** @returns {import('../../changes.mjs').Change[]} */
  #withoutUnstorable(changes) {
    return changes.filter((change, index) => {
      const reason = unstorable(change);
      if (reason === null) return true;
      this.#refuse(change, index, reason);
      return false;
    });
  }

  #refuse(change, index, reason, cause) {
    const message = `${describeChange(change)}: ${reason}`;
    if (this.#onRefused === null) throw new RefusedError(index, message, { cause });
    this.#onRefused(change, message);
  }

  /** Stores a batch by few statements; where one is refused, change by change. */
  async #store(changes, progress, batch) {
    try {
      await this.#transact(this.#planAll(changes, progressStatements(progress, batch)));
    } catch (error) {
      if (!error.isRefusal) throw error;
      await this.#storeOneByOne(changes, progress, batch);
    }
  }

  /** Plans each statement when it is asked for, so that the server works on those before it meanwhile. */
  *#planAll(changes, last) {
    for (const step of toRuns(changes)) {
      for (const part of partsOf(step)) {
        this.#plan(part);
        yield* this.#takePlanned();
      }
    }
    yield* last;
  }

  /** Finds the change that is refused. */
  async #storeOneByOne(changes, progress, batch) {
    const connection = this.#connection;
    await connection.execute([BEGIN, { sql: 'SET CONSTRAINTS ALL IMMEDIATE' }]);
    for (const [index, change] of changes.entries()) {
      for (const step of toRuns([change])) this.#plan(step);
      const statements = this.#takePlanned().map(({ sql, values }) => ({ sql, values }));
      try {
        await connection.execute([{ sql: 'SAVEPOINT one' }, ...statements, { sql: 'RELEASE SAVEPOINT one' }]);
      } catch (error) {
        if (!error.isRefusal) {
          await this.#rollBack('ROLLBACK');
          throw error;
        }
        await this.#rollBack(this.#onRefused === null ? 'ROLLBACK' : 'ROLLBACK TO SAVEPOINT one');
        this.#refuse(change, index, `PostgreSQL refuses it: ${error.message}`, error);
      }
    }
    await connection.execute([...progressStatements(progress, batch), COMMIT]);
  }

  async #rollBack(sql) {
    if (this.#connection === null) return;
    await this.#connection.execute([{ sql }]);
    this.#planned = [];
    await this.#loadCatalog();
  }

  /** All in one transaction; where something fails, nothing is done and the catalogue is as it was. */
  async #transact(statements) {
    try {
      await this.#connection.execute(inTransaction(statements));
    } catch (error) {
      // The transaction is over already: COMMIT, too, was on its way.
      if (!error.isPassing) await this.#loadCatalog();
      throw error;
    }
  }

  #takePlanned() {
    const planned = this.#planned;
    this.#planned = [];
    return planned;
  }

  #plan(step) {
    if (step.kind === 'single') {
      applyStructure(this.#catalog, step.change, {
        isSelected: this.#isSelected,
        onWarning: this.#onWarning,
      });
    } else if (step.kind === 'remove') {
      const table = this.#catalog.find(step.namespace);
      if (table !== undefined) this.#planRows(table, removal(table, step.changes));
    } else {
      const statement = upsert(this.#catalog, step.namespace, step.changes);
      this.#planRows(this.#catalog.find(step.namespace), statement);
    }
  }

  #planRows(table, statement) {
    const nextName = () => {
      this.#connection.named += 1;
      return `bsonrow_${this.#connection.named}`;
    };
    this.#planned.push(prepared(table, statement, nextName));
  }
}

function* inTransaction(statements) {
  yield BEGIN;
  yield* statements;
  yield COMMIT;
}

/** A long run in parts: the server begins with the first while the next is put together. */
function* partsOf(step) {
  if (step.kind === 'single') {
    yield step;
    return;
  }
  let changes = [];
  let size = 0;
  for (const change of step.changes) {
    const own = sizeOf(change);
    if (changes.length === ROWS_IN_STATEMENT || (changes.length > 0 && size + own > BYTES_IN_STATEMENT)) {
      yield { ...step, changes };
      changes = [];
      size = 0;
    }
    changes.push(change);
    size += own;
  }
  yield { ...step, changes };
}

/** About the size of its values, as far as they can be large. */
function sizeOf({ row }) {
  let size = 0;
  for (const name in row) {
    const value = row[name];
    if (value instanceof EncodedText) size += value.bytes.length;
    else if (typeof value === 'string' || value instanceof Uint8Array) size += value.length;
  }
  return size;
}

function progressStatements(progress, batch) {
  if (progress === null) return [];
  const sql =
    'INSERT INTO _bsonrow_progress (source_digest, source, position, batch) ' +
    'VALUES (sha256($1::bytea), $2, $3, $4) ' +
    'ON CONFLICT (source_digest) DO UPDATE SET position = excluded.position, batch = excluded.batch';
  const { source, position, forget = [] } = progress;
  return [
    { sql, values: [Buffer.from(source), source, position, batch], name: 'bsonrow_progress' },
    ...forget.map((name) => ({
      sql: 'DELETE FROM _bsonrow_progress WHERE source_digest = sha256($1::bytea)',
      values: [Buffer.from(name)],
    })),
  ];
}
