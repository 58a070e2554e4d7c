// The sink of an SQLite file: one table a collection, one row a document.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'libsql';
import { EncodedText } from '../encoded-text.mjs';
import { RefusedError, SinkError } from '../errors.mjs';
import { claimOf, isEntryOf, resumeAlone } from '../positions.mjs';
import { Catalog } from './catalog.mjs';
import { describeChange } from './describe.mjs';
import { quoteName } from './naming.mjs';
import { applyStructure } from './structure.mjs';
import { KEY_COLUMN, OVERFLOW_COLUMN } from './tables.mjs';
import { overflowJson, storableValue } from './values.mjs';

/** Statements kept prepared for a table; a collection of ever-new element names must not fill the memory. */
const MAX_STATEMENTS = 256;

/** Of new files: a long text takes a fourth of the pages it would take in SQLite's own size, and short rows lose nothing. */
const PAGE_BYTES = 16 * 1024;
/** The log is folded into the file, and the disk waited for, when it has so many pages: 32 MiB, several batches. */
const LOG_PAGES = 2048;

/** How long others are waited for that write; where they are of the same run, each has transactions without end. */
const TIMEOUT_MS = 5000;
const SHARED_TIMEOUT_MS = 60_000;

/** @implements {import('./sink.mjs').Sink} */
export class SqliteSink {
  #db;
  #catalog;
  /** SQLite's number for the tables and columns that the catalogue is of. */
  #schemaVersion;
  #isLastToClose;
  #onWarning;
  #isSelected;
  #onRefused;
  /** Whether bytes that are cast to TEXT are read as UTF-8: SQLite reads them in the file's own encoding. */
  #isUtf8;

  /**
   * @param {string} file
   * @param {import('./sink.mjs').SinkOptions} options
   */
  constructor(file, { onWarning, onRefused = null, isSelected = () => true, part = { index: 0, count: 1 } }) {
    this.#onWarning = onWarning;
    this.#isSelected = isSelected;
    this.#onRefused = onRefused;
    this.#isLastToClose = part.index === 0;
    try {
      this.#db = new Database(file);
      this.#db.pragma(`busy_timeout = ${part.count > 1 ? SHARED_TIMEOUT_MS : TIMEOUT_MS}`);
      this.#db.pragma(`page_size = ${PAGE_BYTES}`);
      // With a write-ahead log, readers see whole transactions while a run goes on.
      this.#db.pragma('journal_mode = WAL');
      this.#db.pragma('synchronous = NORMAL');
      this.#db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
      this.#catalog = new Catalog(this.#db);
      this.#isUtf8 = this.#db.prepare('PRAGMA encoding').raw().get([])[0] === 'UTF-8';
    } catch (error) {
      const reason = folderProblem(file) ?? error.message;
      throw new SinkError(`${file}: cannot be opened as an SQLite file: ${reason}`, { cause: error });
    }
  }

  async readPosition(source) {
    return resumeAlone(this, source);
  }

  async claim(source, run) {
    const entries = this.#read(() => this.#entriesOf(source));
    if ((entries.get(claimOf(source)) ?? null) === run) return entries;
    return this.#transact('the SQLite file cannot be written', () => {
      this.#setProgress(claimOf(source), run);
      return this.#entriesOf(source);
    });
  }

  #entriesOf(source) {
    const entries = this.#db.prepare('SELECT source, position FROM _bsonrow_progress').raw().all([]);
    return new Map(entries.filter(([name]) => isEntryOf(source, name)));
  }

  async apply(changes, progress) {
    this.#transact('the SQLite file cannot be written', () => {
      if (progress?.claim !== undefined) this.#checkClaim(progress.claim);
      this.#followOthers();
      changes.forEach((change, index) => {
        this.#applyOrRefuse(change, index);
      });
      if (progress !== null) {
        this.#setProgress(progress.source, progress.position);
        for (const name of progress.forget ?? []) this.#setProgress(name, null);
      }
      this.#schemaVersion = this.#readSchemaVersion();
    });
  }

  async reset() {
    this.#transact('the SQLite file cannot be emptied', () => {
      this.#followOthers();
      for (const [namespace] of this.#catalog.entries()) this.#catalog.drop(namespace);
      this.#db.exec('DELETE FROM _bsonrow_progress');
    });
  }

  /** What others have done is seen with each transaction. */
  async refresh() {}

  /** @param {string} failure what it means where it fails */
  #transact(failure, work) {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      if (error instanceof SinkError) throw error;
      throw new SinkError(`${failure}: ${error.message}`, { cause: error });
    }
  }

  /** @param {string | null} position `null`: the entry is taken out */
  #setProgress(source, position) {
    if (position === null) {
      this.#db.prepare('DELETE FROM _bsonrow_progress WHERE source = ?').run([source]);
      return;
    }
    this.#db
      .prepare('INSERT OR REPLACE INTO _bsonrow_progress (source, position) VALUES (?, ?)')
      .run([source, position]);
  }

  /** A process may outlive the run that it was of by a moment, and the next run has begun where it was then. */
  #checkClaim({ name, run }) {
    const found = this.#db
      .prepare('SELECT position FROM _bsonrow_progress WHERE source = ?')
      .raw()
      .get([name]);
    if (found?.[0] !== run) throw new SinkError('another run has taken over what this one was applying');
  }

  /** Reads the catalogue again where others have changed it: tables and columns go with each of its changes. */
  #followOthers() {
    const version = this.#readSchemaVersion();
    if (this.#schemaVersion !== version) this.#catalog = new Catalog(this.#db);
    this.#schemaVersion = version;
  }

  #readSchemaVersion() {
    const [version] = this.#db.prepare('PRAGMA schema_version').raw().get([]);
    return version;
  }

  async tables(isWanted = () => true) {
    return this.#read(() => {
      this.#followOthers();
      const entries = this.#catalog.entries().filter(([namespace]) => isWanted(namespace));
      return entries.map(([namespace, table]) => {
        const [rows] = this.#db.prepare(`SELECT count(*) FROM ${table.quotedName}`).raw().get([]);
        return { namespace, table: table.name, rows };
      });
    });
  }

  async firstRows(namespace, count) {
    const table = this.#catalog.find(namespace);
    const columns = [...table.columns.values()];
    if (table.hasOverflow) columns.push(OVERFLOW_COLUMN);
    const list = columns.map(quoteName).join(', ') || 'NULL';
    const sql = `SELECT ${list} FROM ${table.quotedName} ORDER BY rowid LIMIT ?`;
    const rows = this.#read(() =>
      this.#db
        .prepare(sql)
        .safeIntegers(true)
        .raw()
        .all([BigInt(count)]),
    );
    return { columns, rows };
  }

  #read(work) {
    try {
      return work();
    } catch (error) {
      throw new SinkError(`the SQLite file cannot be read: ${error.message}`, { cause: error });
    }
  }

  async close() {
    try {
      // Folds the log back, so that one file is left.
      if (this.#isLastToClose) {
        this.#db.pragma('wal_checkpoint(TRUNCATE)');
        this.#db.pragma('journal_mode = DELETE');
      }
    } catch {
      // Somebody reads the file: the log stays beside it, and the last to close the file folds it back.
    }
    this.#db.close();
  }

  /** SQLite undoes a statement that it refuses, and the transaction goes on. */
  #applyOrRefuse(change, index) {
    try {
      this.#applyOne(change);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const reason = `${describeChange(change)}: the SQLite file refuses it: ${error.message}`;
      if (this.#onRefused === null) throw new RefusedError(index, reason, { cause: error });
      this.#onRefused(change, reason);
    }
  }

  #applyOne(change) {
    switch (change.kind) {
      case 'put':
        this.#put(change);
        return;
      case 'remove':
        this.#remove(change);
        return;
      default:
        applyStructure(this.#catalog, change, { isSelected: this.#isSelected, onWarning: this.#onWarning });
    }
  }

  #put({ namespace, key, row }) {
    const table = this.#catalog.findOrCreate(namespace);
    const names = Object.keys(row);
    const values = Object.values(row);
    const encoded = this.#encodedIn(values);
    // No element name holds a NUL.
    const shape = names.join('\0');
    let plan = table.statements.get(shape);
    if (plan === undefined || !encoded.every((index) => plan.encoded.has(index)))
      plan = this.#plan(table, shape, names, new Set([...(plan?.encoded ?? []), ...encoded]));
    const parameters = [key];
    for (const index of plan.stored) parameters.push(storableValue(values[index]));
    if (plan.overflow.length > 0) {
      parameters.push(overflowJson(plan.overflow.map((index) => [names[index], values[index]])));
    }
    for (const index of plan.flagged) parameters.push(values[index] instanceof EncodedText ? 1 : 0);
    plan.statement.run(parameters);
  }

  /** Which of a row's values are encoded texts, unless the file has another encoding: then they are made strings. */
  #encodedIn(values) {
    const encoded = [];
    for (let index = 0; index < values.length; index += 1) {
      if (!(values[index] instanceof EncodedText)) continue;
      if (this.#isUtf8) encoded.push(index);
      else values[index] = values[index].toString();
    }
    return encoded;
  }

  /**
   * The statement for rows of these element names, and which of their values it stores in columns.
   * @param {Set<number>} encoded which values were encoded texts in some row so far. A parameter of each says whether
   *   they are in this one, so that rows with long texts now here, now there, are one statement and not many
   */
  #plan(table, shape, names, encoded) {
    const columns = [KEY_COLUMN];
    const stored = [];
    const overflow = [];
    const flagged = [];
    const castable = new Set();
    names.forEach((name, index) => {
      const column = this.#catalog.column(table, name);
      if (column === null) {
        overflow.push(index);
        return;
      }
      if (encoded.has(index)) {
        flagged.push(index);
        castable.add(columns.length);
      }
      stored.push(index);
      columns.push(column);
    });
    if (overflow.length > 0) columns.push(OVERFLOW_COLUMN);
    const statement = this.#db.prepare(upsertSql(table, columns, castable));
    const isNew = !table.statements.has(shape);
    if (isNew && table.statements.size >= MAX_STATEMENTS) table.statements.clear();
    const plan = { statement, stored, overflow, encoded, flagged };
    table.statements.set(shape, plan);
    return plan;
  }

  #remove({ namespace, key }) {
    const table = this.#catalog.find(namespace);
    if (table === undefined) return;
    table.removal ??= this.#db.prepare(`DELETE FROM ${table.quotedName} WHERE ${KEY_COLUMN} = ?`);
    table.removal.run([key]);
  }

  #rollBack() {
    try {
      this.#db.exec('ROLLBACK');
      this.#catalog.load();
    } catch {
      // There was no transaction, or the file is gone: the first error is the one to report.
    }
  }
}

/**
 * Stores a row whole: columns that it does not have become NULL. Not REPLACE, which takes away every row that a
 * unique index of the user's holds for equal, without a word.
 * @param {Set<number>} castable places of columns whose value may be the bytes of a text: a parameter for each, behind
 *   those of the values, says whether it is
 */
function upsertSql(table, columns, castable) {
  const set = [...table.columns.values()].map((name) => assignment(name, columns.includes(name)));
  if (table.hasOverflow) set.push(assignment(OVERFLOW_COLUMN, columns.includes(OVERFLOW_COLUMN)));
  const list = columns.map(quoteName).join(', ');
  let parameters = columns.length;
  const marks = columns.map((_, place) => {
    const value = `?${place + 1}`;
    if (!castable.has(place)) return value;
    parameters += 1;
    return `iif(?${parameters}, CAST(${value} AS TEXT), ${value})`;
  });
  const onConflict = set.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${set.join(', ')}`;
  return `INSERT INTO ${table.quotedName} (${list}) VALUES (${marks.join(', ')}) ON CONFLICT (${KEY_COLUMN}) ${onConflict}`;
}

function assignment(name, isGiven) {
  const quoted = quoteName(name);
  return `${quoted} = ${isGiven ? `excluded.${quoted}` : 'NULL'}`;
}

/** SQLite only says that it cannot; mostly it is the folder, or the file is one. */
function folderProblem(file) {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) return 'it is a folder';
  const folder = dirname(resolve(file));
  try {
    accessSync(folder, constants.W_OK);
    return null;
  } catch ({ code }) {
    return code === 'ENOENT' ? `there is no folder ${folder}` : `the folder ${folder} may not be written to`;
  }
}

/** Whether it is this row that cannot be stored; all else (a full disk, a locked file) concerns any row. */
function isRefusal({ code }) {
  // What libsql itself cannot bind has no code.
  return code === undefined || /^SQLITE_(CONSTRAINT|TOOBIG|MISMATCH)/.test(code);
}
