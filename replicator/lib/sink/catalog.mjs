// Which table belongs to which collection, and which column to which element name. The tables `_bsonrow_…` keep
// it, so that every run finds the names that the first run gave.
import { foldName, freeName, quoteName, wantedTableName } from './naming.mjs';
import { KEY_COLUMN, OVERFLOW_COLUMN, RENAMING, Tables } from './tables.mjs';

/** SQLite's limit for a table (SQLITE_MAX_COLUMN), with one kept back for the overflow column. */
const MAX_COLUMNS = 2000 - 1;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS _bsonrow_tables (
    id INTEGER PRIMARY KEY, namespace TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS _bsonrow_columns (
    table_id INTEGER NOT NULL, element TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (table_id, element));
  CREATE TABLE IF NOT EXISTS _bsonrow_progress (source TEXT PRIMARY KEY, position TEXT NOT NULL);
`;

/** One replicated collection. */
class Table {
  /** Element name → column. */
  columns = new Map();
  /** Folded names of all columns, those of our own included. */
  taken = new Set([KEY_COLUMN, OVERFLOW_COLUMN]);
  hasOverflow = false;
  /** Prepared by sqlite.mjs: what stores a row, by its element names, and what removes one. */
  statements = new Map();
  removal = null;

  constructor(id, name) {
    this.id = id;
    this.setName(name);
  }

  setName(name) {
    this.name = name;
    this.quotedName = quoteName(name);
    this.forgetStatements();
  }

  forgetStatements() {
    this.statements.clear();
    this.removal = null;
  }
}

export class Catalog extends Tables {
  #db;
  /** Folded names of all there is in the file. */
  #taken = new Set();

  constructor(db) {
    super();
    this.#db = db;
    db.exec(SCHEMA);
    this.load();
  }

  /** Reads the catalogue anew: at the start, and where a transaction was rolled back. */
  load() {
    this.byNamespace.clear();
    this.#taken = new Set(
      this.#db
        .prepare('SELECT name FROM sqlite_master')
        .raw()
        .all([])
        .map(([name]) => foldName(name)),
    );
    const byId = new Map();
    for (const [id, namespace, name] of this.#all('SELECT id, namespace, name FROM _bsonrow_tables')) {
      const table = new Table(id, name);
      byId.set(id, table);
      this.byNamespace.set(namespace, table);
      const columns = this.#all('SELECT name FROM pragma_table_info(?)', [name]);
      table.hasOverflow = columns.some(([column]) => column === OVERFLOW_COLUMN);
    }
    for (const [id, element, name] of this.#all(
      'SELECT table_id, element, name FROM _bsonrow_columns ORDER BY rowid',
    )) {
      byId.get(id).columns.set(element, name);
      byId.get(id).taken.add(foldName(name));
    }
  }

  /** @returns {Table} */
  create(namespace) {
    const name = freeName(wantedTableName(namespace), this.#taken);
    this.#db.exec(`CREATE TABLE ${quoteName(name)} (${KEY_COLUMN} BLOB PRIMARY KEY NOT NULL)`);
    const [[id]] = this.#all('INSERT INTO _bsonrow_tables (namespace, name) VALUES (?, ?) RETURNING id', [
      namespace,
      name,
    ]);
    const table = new Table(id, name);
    this.byNamespace.set(namespace, table);
    this.#taken.add(foldName(name));
    return table;
  }

  /**
   * The column of an element name, added where it is new.
   * @returns {string | null} `null` where the table is full: the element goes to the overflow column
   */
  column(table, element) {
    const known = table.columns.get(element);
    if (known !== undefined) return known;
    if (table.columns.size + 1 >= MAX_COLUMNS) {
      this.#ensureOverflow(table);
      return null;
    }
    const name = freeName(element, table.taken);
    // No type: values keep the storage class they come with.
    this.#db.exec(`ALTER TABLE ${table.quotedName} ADD COLUMN ${quoteName(name)}`);
    this.#run('INSERT INTO _bsonrow_columns (table_id, element, name) VALUES (?, ?, ?)', [
      table.id,
      element,
      name,
    ]);
    table.columns.set(element, name);
    table.taken.add(foldName(name));
    // They name every column, this one not yet.
    table.forgetStatements();
    return name;
  }

  #ensureOverflow(table) {
    if (table.hasOverflow) return;
    this.#db.exec(`ALTER TABLE ${table.quotedName} ADD COLUMN ${OVERFLOW_COLUMN}`);
    table.hasOverflow = true;
    table.forgetStatements();
  }

  drop(namespace) {
    const table = this.byNamespace.get(namespace);
    if (table === undefined) return;
    table.forgetStatements();
    this.#db.exec(`DROP TABLE ${table.quotedName}`);
    this.#run('DELETE FROM _bsonrow_columns WHERE table_id = ?', [table.id]);
    this.#run('DELETE FROM _bsonrow_tables WHERE id = ?', [table.id]);
    this.byNamespace.delete(namespace);
    this.#taken.delete(foldName(table.name));
  }

  /** Over any table of the new name. By way of a third name, as SQLite refuses to change the case alone. */
  rename(namespace, to) {
    const table = this.byNamespace.get(namespace);
    if (namespace !== to) this.drop(to);
    this.#db.exec(`ALTER TABLE ${table.quotedName} RENAME TO ${RENAMING}`);
    this.byNamespace.delete(namespace);
    this.#taken.delete(foldName(table.name));

    table.setName(freeName(wantedTableName(to), this.#taken));
    this.#db.exec(`ALTER TABLE ${RENAMING} RENAME TO ${table.quotedName}`);
    this.#run('UPDATE _bsonrow_tables SET namespace = ?, name = ? WHERE id = ?', [to, table.name, table.id]);
    this.byNamespace.set(to, table);
    this.#taken.add(foldName(table.name));
  }

  #all(sql, parameters = []) {
    return this.#db.prepare(sql).raw().all(parameters);
  }

  #run(sql, parameters) {
    this.#db.prepare(sql).run(parameters);
  }
}
