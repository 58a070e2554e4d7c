// One raw document or change event → one change. The only file that hands BSON to the converter.
import { NativeSourceRowConverter, parseChangeDocument } from 'bsonrow';
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

/** Bytes that cannot be converted. `offset` counts from the start of the document or event. */
export class ConversionError extends Error {
  name = 'ConversionError';

  constructor(offset, reason, options) {
    super(reason, options);
    this.offset = offset;
  }
}

export class ChangeConverter {
  /** Milliseconds spent in the converter of bsonrow. */
  converterTime = 0;
  #converter;
  #isSelected;

  /**
   * @param {import('bsonrow').DateRenderMode} dateMode
   * @param {(namespace: string) => boolean} isSelected
   */
  constructor(dateMode, isSelected) {
    this.#converter = new NativeSourceRowConverter(dateMode);
    this.#isSelected = isSelected;
  }

  /** A document of a dump: the row it is. */
  fromDocument(bytes, namespace) {
    if (!this.#isSelected(namespace)) return none('document');
    return this.#put('document', namespace, bytes, 0);
  }

  /**
   * A change event.
   * @param {string | null} fallback the namespace of an event that was projected down to none
   */
  fromEvent(bytes, fallback) {
    const event = this.#call(0, () => parseChangeDocument(bytes));
    // Of a split event, any one fragment may hold the operation.
    if (event.splitEvent !== undefined) return none('split event', 'splitEvent');
    const operation = event.operationType;
    if (typeof operation !== 'string') throw new ConversionError(0, 'a change event without operationType');
    switch (operation) {
      case 'insert':
      case 'update':
      case 'replace':
      case 'delete':
        return this.#rowChange(bytes, event, namespaceOf(event.ns) ?? fallback);
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

  #rowChange(bytes, event, namespace) {
    const operation = event.operationType;
    if (!this.#isSelected(needNamespace(namespace, operation))) return none(operation);
    const { fullDocument } = event;
    if (operation !== 'delete' && fullDocument instanceof Uint8Array) {
      return this.#put(operation, namespace, fullDocument, fullDocument.byteOffset - bytes.byteOffset);
    }
    if (operation === 'update' && fullDocument === undefined) return none(operation, 'deltaOnly');
    if (operation !== 'delete' && operation !== 'update') {
      throw new ConversionError(0, `a change event of type ${operation} without fullDocument`);
    }
    // An update whose document is null was looked up too late: the document is deleted already.
    if (event.documentKey?._id === undefined) {
      throw new ConversionError(0, `a change event of type ${operation} without documentKey._id`);
    }
    return { kind: 'remove', operation, namespace, key: keyOf(event.documentKey._id) };
  }

  /** `at` is where the document begins in what it was cut from, so that the place of an error counts from there. */
  #put(operation, namespace, document, at) {
    const { row, replicaId } = this.#call(at, () => this.#converter.rawToSqliteRow(document));
    return { kind: 'put', operation, namespace, key: keyOf(replicaId), row };
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

  #call(at, work) {
    const start = performance.now();
    try {
      return work();
    } catch (error) {
      // A wrong argument is a fault of this program, not of the data.
      if (error instanceof TypeError) throw error;
      throw new ConversionError(at + (error.offset ?? 0), describe(error), { cause: error });
    } finally {
      this.converterTime += performance.now() - start;
    }
  }
}

const none = (operation, issue) => ({ kind: 'none', operation, issue });

/** Of `{ db, coll }`, as an event holds it under `ns` and `to`; `null` where it is not that. */
function namespaceOf(value) {
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

/** The converter's message, and the element it speaks of. */
function describe(error) {
  return error.path?.length > 0 ? `${error.message} (at ${error.path.join('.')})` : error.message;
}
