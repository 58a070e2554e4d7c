// The commands that open a change stream and the snapshot of a collection.
import { collectionOf, databaseOf } from '../../namespace.mjs';

/** Runs on the server: longer than this, and fewer events are asked for. */
const OPEN_TIME_MS = 60_000;

/**
 * @typedef {object} StreamRequest
 * @property {import('./selection.mjs').Selection} selection
 * @property {'updateLookup' | 'required'} fullDocument
 * @property {object[]} stages the user's own, after the choice of collections
 * @property {boolean} splits whether the server splits events of more than 16 MiB
 */

/**
 * @param {StreamRequest} request
 * @param {object} start `resumeAfter`, `startAfter` or `startAtOperationTime`; empty: now
 * @param {number} batchSize
 * @returns {{ database: string, command: object }}
 */
export function openChangeStream({ selection, fullDocument, stages, splits }, start, batchSize) {
  const { watch } = selection;
  const stage = { fullDocument, ...start };
  if (watch === 'cluster') stage.allChangesForCluster = true;
  const pipeline = [{ $changeStream: stage }];
  if (watch !== 'collection') pipeline.push({ $match: { $or: eventsOf(selection) } });
  pipeline.push(...stages);
  // The server wants it last.
  if (splits) pipeline.push({ $changeStreamSplitLargeEvent: {} });
  return {
    database: databaseToWatch(selection),
    command: {
      aggregate: watch === 'collection' ? collectionOf(selection.namespaces[0]) : 1,
      pipeline,
      cursor: { batchSize },
      maxTimeMS: OPEN_TIME_MS,
      ...majority(),
    },
  };
}

/** What can be rolled back is not replicated. A new object each time: the driver writes the session's time into it. */
const majority = () => ({ readConcern: { level: 'majority' } });

function databaseToWatch({ watch, namespaces, databases }) {
  if (watch === 'cluster') return 'admin';
  return databases[0] ?? databaseOf(namespaces[0]);
}

/** Events of the chosen collections, of renames to them, and of what ends a whole database or the stream. */
function eventsOf({ namespaces, databases }) {
  const of = (field) => [
    ...databases.map((db) => ({ [`${field}.db`]: db })),
    ...namespaces.map((name) => ({
      [`${field}.db`]: databaseOf(name),
      [`${field}.coll`]: collectionOf(name),
    })),
  ];
  const ended = [...new Set(namespaces.map(databaseOf))].map((db) => ({
    operationType: 'dropDatabase',
    'ns.db': db,
  }));
  return [...of('ns'), ...of('to'), ...ended, { operationType: 'invalidate' }];
}

/**
 * The documents of a collection in the order of their `_id`s, after one of them.
 *
 * A plain `{ _id: { $gt: last } }` compares within the type of `last` only, and would end the snapshot where the
 * type of the `_id`s changes. The expression `$gt` compares as the sort does, across all types.
 * @param {string} namespace
 * @param {{ id: unknown } | null} last
 * @param {number} batchSize
 */
export function openSnapshot(namespace, last, batchSize) {
  return {
    database: databaseOf(namespace),
    command: {
      find: collectionOf(namespace),
      filter: last === null ? {} : { $expr: { $gt: ['$_id', { $literal: last.id }] } },
      sort: { _id: 1 },
      batchSize,
      ...majority(),
    },
  };
}
