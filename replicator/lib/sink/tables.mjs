// What the catalogues of all databases have in common: the tables by their collections, and the names of what is our own
// in them.

/** Columns that every replicated table has, or may have, beside those of the documents. */
export const KEY_COLUMN = '_bsonrow_key';
export const OVERFLOW_COLUMN = '_bsonrow_more';

/** What a table is called in between while it is renamed: with no dot in it, so that no namespace can ask for it. */
export const RENAMING = '_bsonrow_renaming';

/**
 * The replicated collections, by namespace. What creates a table in the database is a subclass's `create`.
 * @template Table
 */
export class Tables {
  /** @type {Map<string, Table>} */
  byNamespace = new Map();

  /** @returns {[namespace: string, table: Table][]} in the order of the namespaces */
  entries() {
    return [...this.byNamespace].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** @returns {Table | undefined} */
  find(namespace) {
    return this.byNamespace.get(namespace);
  }

  /** @returns {Table} */
  findOrCreate(namespace) {
    return this.byNamespace.get(namespace) ?? this.create(namespace);
  }
}
