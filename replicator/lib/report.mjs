// The account of a run: what was read, what became of it, how long it took.

/** Operations counted by name; further ones, which can only be names that no server has, are counted together. */
const MAX_OPERATIONS = 100;
const OTHERS = 'other';

/** @typedef {{ puts: number, removes: number }} CollectionCount */

/**
 * How many rows changes put and remove.
 * @param {import('./changes.mjs').Change[]} changes
 * @returns {Map<string, CollectionCount>} by namespace
 */
export function tallyOf(changes) {
  const tally = new Map();
  for (const { kind, namespace } of changes) {
    if (kind !== 'put' && kind !== 'remove') continue;
    const count = countOf(tally, namespace);
    if (kind === 'put') count.puts += 1;
    else count.removes += 1;
  }
  return tally;
}

function countOf(tally, namespace) {
  let count = tally.get(namespace);
  if (count === undefined) {
    count = { puts: 0, removes: 0 };
    tally.set(namespace, count);
  }
  return count;
}

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
  /** What was stored, of all collections of which something was read. @type {Map<string, CollectionCount>} by namespace */
  collections = new Map();
  /** Documents, events and changes that were left out, with a warning each. */
  leftOut = 0;
  /** Refused changes of batches that are not stored yet. @type {Map<string, CollectionCount>} by namespace */
  #refused = new Map();
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
    countOf(this.collections, change.namespace);
  }

  /** @param {Map<string, CollectionCount>} tally of a batch that the sink has taken, refused changes included */
  countStored(tally) {
    for (const [namespace, { puts, removes }] of tally) {
      const count = countOf(this.collections, namespace);
      const refused = countOf(this.#refused, namespace);
      count.puts += puts - refused.puts;
      count.removes += removes - refused.removes;
      this.#refused.delete(namespace);
    }
  }

  /** A document or event that cannot be converted. */
  leaveOut(place) {
    this.leftOut += 1;
    this.warn('document that cannot be converted, skipped', place);
  }

  /** @param {Pick<import('./changes.mjs').Change, 'kind' | 'namespace'>} change that the sink has not taken */
  leaveOutRefused({ kind, namespace }, reason) {
    this.leftOut += 1;
    this.warn('change that the sink refuses, skipped', reason);
    if (kind === 'put') countOf(this.#refused, namespace).puts += 1;
    else if (kind === 'remove') countOf(this.#refused, namespace).removes += 1;
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
