// Which collections are meant, and where on the server a change stream has to watch for them.
import { UsageError } from '../../errors.mjs';
import { collectionOf, databaseOf, makeSelection, parseNamespace } from '../../namespace.mjs';

/**
 * @typedef {object} Selection
 * @property {string[]} namespaces collections by name
 * @property {string[]} databases databases of which all collections are meant
 * @property {(namespace: string) => boolean} isSelected
 * @property {'collection' | 'database' | 'cluster'} watch
 */

/**
 * @param {string[]} patterns `database.collection` or `database.*`; none: all of the address's database
 * @param {string | null} database the address's
 * @param {'auto' | 'collection' | 'database' | 'cluster'} watch
 * @returns {Selection}
 */
export function selectCollections(patterns, database, watch) {
  if (patterns.length === 0) {
    if (database === null) {
      throw new UsageError(
        'name a database in the address (mongodb://host/database), or collections by --collection',
      );
    }
    return withWatch([], [database], watch);
  }
  const all = patterns.map(parseNamespace);
  const databases = all.filter((pattern) => pattern.endsWith('.*')).map(databaseOf);
  const namespaces = all.filter(
    (pattern) => !pattern.endsWith('.*') && !databases.includes(databaseOf(pattern)),
  );
  return withWatch([...new Set(namespaces)], [...new Set(databases)], watch);
}

function withWatch(namespaces, databases, watch) {
  const isOneDatabase = new Set([...databases, ...namespaces.map(databaseOf)]).size === 1;
  if (watch === 'collection' && (namespaces.length !== 1 || databases.length !== 0)) {
    throw new UsageError('--watch collection needs one --collection, and only one');
  }
  if (watch === 'database' && !isOneDatabase) {
    throw new UsageError('--watch database cannot see the collections of several databases');
  }
  const isChosen = makeSelection([...namespaces, ...databases.map((name) => `${name}.*`)]);
  return {
    namespaces,
    databases,
    isSelected: (namespace) => isChosen(namespace) && !isSystem(namespace),
    watch: watch === 'auto' ? (isOneDatabase ? 'database' : 'cluster') : watch,
  };
}

/** Collections that the server keeps for itself. */
function isSystem(namespace) {
  return collectionOf(namespace).startsWith('system.');
}

/**
 * The collections there are now.
 * @param {import('./connection.mjs').Connection} connection
 * @param {Selection} selection
 * @returns {Promise<string[]>} namespaces, in order
 */
export async function findCollections(connection, { namespaces, databases, isSelected }) {
  const found = [...namespaces];
  for (const database of databases) {
    for (const { name, type } of await connection.listCollections(database)) {
      // Views and time series have no change streams.
      if (type === 'view' || type === 'timeseries') continue;
      if (isSelected(`${database}.${name}`)) found.push(`${database}.${name}`);
    }
  }
  return found.sort();
}
