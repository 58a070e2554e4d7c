// The account of a run: what was read, what became of it, how long it took.

/** Operations counted by name; further ones, which can only be names that no server has, are counted together. */
const MAX_OPERATIONS = 100;
const OTHERS = 'other';

/** @typedef {{ puts: number, removes: number }} CollectionCount */

export class Report {
  /** Documents or events read; those that an earlier run had applied not included. */
  documents = 0;
  alreadyApplied = 0;
  /** Bytes of BSON read. */
  bytes = 0;
  /** Milliseconds: the whole run, the converter of bsonrow, the sink. */
  wallTime = 0;
  converterTime = 0;
  sinkTime = 0;
  /** @type {Map<string, number>} operation → events */
  operations = new Map();
  /** @type {Map<string, CollectionCount>} by namespace */
  collections = new Map();
  /** @type {Map<string, { count: number, first: string }>} by message */
  warnings = new Map();

  /** A fragment of an event that is not whole yet: with its last one it is counted. */
  countFragment(bytes) {
    this.bytes += bytes;
  }

  /** One more document or event; `null` where no change could be made of it. */
  count(bytes, change) {
    this.documents += 1;
    this.bytes += bytes;
    if (change === null) return;
    this.#countOperation(change.operation);
    if (change.kind !== 'put' && change.kind !== 'remove') return;
    let collection = this.collections.get(change.namespace);
    if (collection === undefined) {
      collection = { puts: 0, removes: 0 };
      this.collections.set(change.namespace, collection);
    }
    if (change.kind === 'put') collection.puts += 1;
    else collection.removes += 1;
  }

  #countOperation(operation) {
    const isKnown = this.operations.has(operation) || this.operations.size < MAX_OPERATIONS;
    const name = isKnown ? operation : OTHERS;
    this.operations.set(name, (this.operations.get(name) ?? 0) + 1);
  }

  /** Each kind of warning is kept once, with its number and its first place. */
  warn(message, first) {
    const known = this.warnings.get(message);
    if (known === undefined) this.warnings.set(message, { count: 1, first });
    else known.count += 1;
  }
}
