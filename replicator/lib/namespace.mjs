// Namespaces: the text `database.collection`. A database name holds no dot, so the first dot divides the two.
import { UsageError } from './errors.mjs';

export const formatNamespace = (db, coll) => `${db}.${coll}`;

export function databaseOf(namespace) {
  return namespace.slice(0, namespace.indexOf('.'));
}

export function collectionOf(namespace) {
  return namespace.slice(namespace.indexOf('.') + 1);
}

/** A namespace as the user wrote it. */
export function parseNamespace(text) {
  const dot = text.indexOf('.');
  if (dot < 1 || dot === text.length - 1) {
    throw new UsageError(`"${text}" is not a namespace: write database.collection`);
  }
  return text;
}

/**
 * Which collections are replicated.
 * @param {string[]} patterns `database.collection`, or `database.*`; none: all collections
 * @returns {(namespace: string) => boolean}
 */
export function makeSelection(patterns) {
  if (patterns.length === 0) return () => true;
  const names = new Set();
  const databases = new Set();
  for (const pattern of patterns) {
    const namespace = parseNamespace(pattern);
    if (namespace.endsWith('.*')) databases.add(databaseOf(namespace));
    else names.add(namespace);
  }
  return (namespace) => names.has(namespace) || databases.has(databaseOf(namespace));
}
