// What a change event does to rows: the event, its fields read, → one change.
import { ConversionError } from './conversion-error.mjs';
import { encodeKey } from './key.mjs';
import { formatNamespace } from './namespace.mjs';

/** Operations that leave all rows as they are: definitions of collections, indexes and shards. */
const WITHOUT_ROWS = new Set([
  'create',
  'createIndexes',
  'dropIndexes',
  'modify',
  'shardCollection',
  'refineCollectionShardKey',
  'reshardCollection',
  'invalidate',
]);

/**
 * @typedef {object} Image the document after the change
 * @property {'document' | 'null' | 'absent'} kind what `fullDocument` is
 * @property {() => import('bsonrow').IdentifiedRow} read of a `document`
 */

export class EventMapper {
  #isSelected;

  /** @param {(namespace: string) => boolean} isSelected */
  constructor(isSelected) {
    this.#isSelected = isSelected;
  }

  /**
   * @param {object} event `operationType`, `ns`, `to`, `documentKey`
   * @param {string | null} fallback the namespace of an event that has none
   * @param {Image} image
   * @returns {import('./changes.mjs').Change}
   * @throws ConversionError for an event that lacks what its operation needs
   */
  changeOf(event, fallback, image) {
    const operation = event.operationType;
    if (typeof operation !== 'string') throw new ConversionError(0, 'a change event without operationType');
    switch (operation) {
      case 'insert':
      case 'update':
      case 'replace':
      case 'delete':
        return this.#rowChange(event, namespaceOf(event.ns) ?? fallback, image);
      case 'drop':
        return this.#drop(operation, needNamespace(namespaceOf(event.ns) ?? fallback, operation));
      case 'rename':
        return this.#rename(event);
      case 'dropDatabase':
        if (typeof event.ns?.db !== 'string')
          throw new ConversionError(0, 'a dropDatabase event without ns.db');
        return { kind: 'dropDatabase', operation, database: event.ns.db };
      default:
        return WITHOUT_ROWS.has(operation) ? none(operation) : none(operation, 'unknownOperation');
    }
  }

  #rowChange(event, namespace, image) {
    const operation = event.operationType;
    if (!this.#isSelected(needNamespace(namespace, operation))) return none(operation);
    if (operation !== 'delete' && image.kind === 'document') {
      const { row, replicaId } = image.read();
      return putOf(operation, namespace, row, replicaId);
    }
    if (operation === 'update' && image.kind === 'absent') return none(operation, 'deltaOnly');
    if (operation !== 'delete' && operation !== 'update') {
      throw new ConversionError(0, `a change event of type ${operation} without fullDocument`);
    }
    // An update whose document is null was looked up too late: the document is deleted already.
    if (event.documentKey?._id === undefined) {
      throw new ConversionError(0, `a change event of type ${operation} without documentKey._id`);
    }
    return { kind: 'remove', operation, namespace, key: keyOf(event.documentKey._id) };
  }

  #drop(operation, namespace) {
    return this.#isSelected(namespace) ? { kind: 'drop', operation, namespace } : none(operation);
  }

  /** A collection that is renamed out of the selection, or into it, is gone or unknown: its table is dropped. */
  #rename(event) {
    const operation = event.operationType;
    const namespace = needNamespace(namespaceOf(event.ns), operation);
    const to = namespaceOf(event.to);
    if (to === null) throw new ConversionError(0, 'a rename event without its new name (to)');
    if (this.#isSelected(namespace) && this.#isSelected(to))
      return { kind: 'rename', operation, namespace, to };
    const dropped = this.#drop(operation, namespace);
    return dropped.kind === 'drop' ? dropped : this.#drop(operation, to);
  }
}

/** The row is stored whole, in place of any earlier one. */
export function putOf(operation, namespace, row, replicaId) {
  return { kind: 'put', operation, namespace, key: keyOf(replicaId), row };
}

/** No row changes. */
export const none = (operation, issue) => ({ kind: 'none', operation, issue });

/** Of `{ db, coll }`, as an event holds it under `ns` and `to`; `null` where it is not that. */
export function namespaceOf(value) {
  const isNamespace = typeof value?.db === 'string' && typeof value.coll === 'string';
  return isNamespace ? formatNamespace(value.db, value.coll) : null;
}

function needNamespace(namespace, operation) {
  if (namespace === null) {
    throw new ConversionError(0, `a change event of type ${operation} without ns: name one by --namespace`);
  }
  return namespace;
}

function keyOf(id) {
  try {
    return encodeKey(id);
  } catch (error) {
    throw new ConversionError(0, error.message, { cause: error });
  }
}
