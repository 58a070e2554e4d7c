// What the snapshot benchmark reads: documents of a collection, or events of a change stream, made from a seed.
import { serialize } from './generate/bson.mjs';
import { customer } from './generate/customer.mjs';
import { insertEvent, updateEvent } from './generate/event.mjs';
import { order } from './generate/order.mjs';
import { Random } from './generate/random.mjs';

const VARIANTS = 8;
const KB = 1024;
const MB = 1024 * KB;

/** `count` documents, a few variants in turn: the server holds each once. */
function repeat(seed, count, make) {
  const variants = Array.from({ length: VARIANTS }, (_, n) =>
    Buffer.from(serialize(make(new Random(seed + n)))),
  );
  return Array.from({ length: count }, (_, n) => variants[n % VARIANTS]);
}

/**
 * @typedef {object} SnapshotScenario
 * @property {string} id
 * @property {string} title
 * @property {'documents' | 'changes'} kind
 * @property {number} megabytes to read in a round
 * @property {number} bytes of one document or event, about
 * @property {(count: number) => Buffer[]} make
 */

/** @type {SnapshotScenario[]} */
export const snapshotScenarios = [
  {
    id: 'snapshot-100kb-text',
    title: 'snapshot, 100 KB documents of one long text',
    kind: 'documents',
    megabytes: 1000,
    bytes: 100 * KB,
    make: (count) => repeat(11, count, (random) => customer(random, 100 * KB)),
  },
  {
    id: 'snapshot-100kb-nested',
    title: 'snapshot, 100 KB documents of nested items',
    kind: 'documents',
    megabytes: 300,
    bytes: 100 * KB,
    make: (count) => repeat(22, count, (random) => order(random, 590)),
  },
  {
    id: 'snapshot-1kb',
    title: 'snapshot, 1 KB documents',
    kind: 'documents',
    megabytes: 200,
    bytes: KB,
    make: (count) => repeat(33, count, (random) => customer(random, KB)),
  },
  {
    id: 'stream-2mb-updates',
    title: 'change stream, small updates to 2 MB documents',
    kind: 'changes',
    megabytes: 1000,
    bytes: 2 * MB,
    make: (count) => repeat(44, count, (random) => updateEvent(random, 2 * MB)),
  },
  {
    id: 'stream-1kb-inserts',
    title: 'change stream, inserts of 1 KB documents',
    kind: 'changes',
    megabytes: 200,
    bytes: KB,
    make: (count) => repeat(55, count, (random) => insertEvent(random, KB)),
  },
];

export const countOf = ({ megabytes, bytes }, share) =>
  Math.max(8, Math.round((megabytes * MB * share) / bytes));
