// Which table belongs to which collection, and which columns to which element name. The tables `_bsonrow_…` keep
// it, so that every run finds the names that the first run gave.
//
// Names are given here at once, and what has to be done in the database for them is handed to `execute`, in order:
// a whole batch can be planned without waiting for the server.
import { quoteName } from '../naming.mjs';
import { KEY_COLUMN, OVERFLOW_COLUMN, RENAMING, Tables } from '../tables.mjs';
import { freeName, SYSTEM_COLUMNS } from './naming.mjs';
import { classOf, widenedType } from './values.mjs';

/** PostgreSQL's limit for a table (MaxHeapAttributeNumber), less the key and the overflow column. */
const MAX_COLUMNS = 1600 - 2;

export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS _bsonrow_tables (
    id integer PRIMARY KEY, namespace text NOT NULL, name text NOT NULL, has_overflow boolean NOT NULL);
  CREATE TABLE IF NOT EXISTS _bsonrow_columns (
    table_id integer NOT NULL, number integer NOT NULL, element text NOT NULL, class text NOT NULL,
    name text NOT NULL, type text NOT NULL, PRIMARY KEY (table_id, number));
  CREATE TABLE IF NOT EXISTS _bsonrow_progress (
    source_digest bytea PRIMARY KEY, source text NOT NULL, position text NOT NULL, batch text NOT NULL);
`;

/**
 * @typedef {object} Column
 * @property {number} number its place among the columns, from 0
 * @property {string} name
 * @property {import('./values.mjs').ColumnType} type
 */

/** One replicated collection. */
class Table {
  /** @type {Column[]} in the order in which they were added */
  columns = [];
  /** @type {Map<string, Partial<Record<import('./values.mjs').ValueClass, Column>>>} by element name */
  byElement = new Map();
  taken = new Set([KEY_COLUMN, OVERFLOW_COLUMN, ...SYSTEM_COLUMNS]);
  /** SQL text → the name it is prepared under: see statements.mjs. Void as soon as a name or a type changes. */
  prepared = new Map();

  constructor(id, name, hasOverflow) {
    this.id = id;
    this.name = name;
    this.hasOverflow = hasOverflow;
  }

  get quotedName() {
    return quoteName(this.name);
  }

  add(element, valueClass, name, type) {
    const column = { number: this.columns.length, name, type };
    this.columns.push(column);
    this.taken.add(name);
    if (!this.byElement.has(element)) this.byElement.set(element, {});
    this.byElement.get(element)[valueClass] = column;
    return column;
  }
}

export class Catalog extends Tables {
  #execute;
  /** All names of tables in the schema. */
  #taken = new Set();
  #nextId = 1;
  #part;

  /**
   * @param {(sql: string, values?: unknown[]) => void} execute takes what is to be done in the database
   * @param {{ index: number, count: number }} part of the processes that write side by side
   */
  constructor(execute, part) {
    super();
    this.#execute = execute;
    this.#part = part;
  }

  /**
   * Reads the catalogue: at the start, and where a transaction was rolled back.
   * @param {(sql: string) => Promise<any[][]>} query rows as arrays
   */
  async load(query) {
    const relations = await query(
      'SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace ' +
        'UNION SELECT typname FROM pg_type WHERE typnamespace = current_schema()::regnamespace',
    );
    const tables = await query('SELECT id, namespace, name, has_overflow FROM _bsonrow_tables ORDER BY id');
    const columns = await query(
      'SELECT table_id, element, class, name, type FROM _bsonrow_columns ORDER BY table_id, number',
    );
    this.#taken = new Set(relations.map(([name]) => name));
    this.byNamespace.clear();
    const byId = new Map();
    for (const [id, namespace, name, hasOverflow] of tables) {
      const table = new Table(id, name, hasOverflow);
      byId.set(id, table);
      this.byNamespace.set(namespace, table);
    }
    this.#nextId = 1 + (tables.at(-1)?.[0] ?? 0);
    for (const [id, element, valueClass, name, type] of columns)
      byId.get(id).add(element, valueClass, name, type);
  }

  /** One that no other process takes at the same time. */
  #takeId() {
    const { index, count } = this.#part;
    let id = this.#nextId;
    while (id % count !== index) id += 1;
    this.#nextId = id + 1;
    return id;
  }

  /** @returns {Table} */
  create(namespace) {
    const id = this.#takeId();
    const table = new Table(id, freeName(namespace, this.#taken), false);
    // The name of the index is given, too: PostgreSQL would choose one that a collection may ask for.
    this.#execute(
      `CREATE TABLE ${table.quotedName} (` +
        `${KEY_COLUMN} bytea NOT NULL CONSTRAINT _bsonrow_key_${id} PRIMARY KEY)`,
    );
    this.#execute(
      'INSERT INTO _bsonrow_tables (id, namespace, name, has_overflow) VALUES ($1, $2, $3, false)',
      [id, namespace, table.name],
    );
    this.byNamespace.set(namespace, table);
    this.#taken.add(table.name);
    return table;
  }

  /**
   * The column for a value (not null) of an element, added or widened where it has to be.
   * @returns {Column | null} `null` where the table is full: the value goes to the overflow column
   */
  column(table, element, value) {
    const valueClass = classOf(value);
    const known = table.byElement.get(element);
    const column = known?.[valueClass];
    if (column === undefined) return this.#addColumn(table, element, valueClass, value, known !== undefined);
    if (valueClass === 'number') this.#widen(table, column, value);
    return column;
  }

  /** The first class of an element's values gets its name, another one the name and its own. */
  #addColumn(table, element, valueClass, value, isFurther) {
    if (table.columns.length >= MAX_COLUMNS) return null;
    const type = widenedType(undefined, value);
    const name = freeName(isFurther ? `${element}#${valueClass}` : element, table.taken);
    this.#execute(`ALTER TABLE ${table.quotedName} ADD COLUMN ${quoteName(name)} ${type}`);
    const column = table.add(element, valueClass, name, type);
    this.#execute(
      'INSERT INTO _bsonrow_columns (table_id, number, element, class, name, type) VALUES ($1, $2, $3, $4, $5, $6)',
      [table.id, column.number, element, valueClass, name, type],
    );
    table.prepared.clear();
    return column;
  }

  #widen(table, column, value) {
    const type = widenedType(column.type, value);
    if (type === column.type) return;
    const name = quoteName(column.name);
    // By way of text: a direct cast of a double keeps 15 of its digits.
    this.#execute(
      `ALTER TABLE ${table.quotedName} ALTER COLUMN ${name} TYPE ${type} USING ${name}::text::${type}`,
    );
    this.#execute('UPDATE _bsonrow_columns SET type = $1 WHERE table_id = $2 AND number = $3', [
      type,
      table.id,
      column.number,
    ]);
    column.type = type;
    table.prepared.clear();
  }

  ensureOverflow(table) {
    if (table.hasOverflow) return;
    this.#execute(`ALTER TABLE ${table.quotedName} ADD COLUMN ${OVERFLOW_COLUMN} text`);
    this.#execute('UPDATE _bsonrow_tables SET has_overflow = true WHERE id = $1', [table.id]);
    table.hasOverflow = true;
    table.prepared.clear();
  }

  drop(namespace) {
    const table = this.byNamespace.get(namespace);
    if (table === undefined) return;
    this.#execute(`DROP TABLE IF EXISTS ${table.quotedName}`);
    this.#execute('DELETE FROM _bsonrow_columns WHERE table_id = $1', [table.id]);
    this.#execute('DELETE FROM _bsonrow_tables WHERE id = $1', [table.id]);
    this.byNamespace.delete(namespace);
    this.#taken.delete(table.name);
  }

  /** Over any table of the new name. By way of a third name, as a table cannot be renamed to the name it has. */
  rename(namespace, to) {
    const table = this.byNamespace.get(namespace);
    if (namespace !== to) this.drop(to);
    this.#execute(`ALTER TABLE ${table.quotedName} RENAME TO ${RENAMING}`);
    this.byNamespace.delete(namespace);
    this.#taken.delete(table.name);

    table.name = freeName(to, this.#taken);
    table.prepared.clear();
    this.#execute(`ALTER TABLE ${RENAMING} RENAME TO ${table.quotedName}`);
    this.#execute('UPDATE _bsonrow_tables SET namespace = $1, name = $2 WHERE id = $3', [
      to,
      table.name,
      table.id,
    ]);
    this.byNamespace.set(to, table);
    this.#taken.add(table.name);
  }
}
