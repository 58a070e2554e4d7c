// What a sink is, and which one an address opens.
import { isPostgresAddress } from './address.mjs';
import { NullSink } from './null.mjs';
import { SqliteSink } from './sqlite.mjs';

/**
 * Where changes end. Everything a sink is told, it keeps or refuses as a whole: rows and progress of one
 * `apply` are one transaction, so a run that is killed goes on where its rows end.
 *
 * @typedef {object} Sink
 * @property {(source: string, order: import('../positions.mjs').PositionOrder) => Promise<string | null>} readPosition
 *   how far a source was applied
 * @property {(source: string, run: string | null) => Promise<Map<string, string>>} claim the entries of a source; from
 *   then on, only the run of this name may write them (`null`: any without one)
 * @property {(changes: import('../changes.mjs').Change[], progress: Progress | null, reached: import('../apply.mjs').Reached[],
 *   onStored: (tally: Map<string, import('../report.mjs').CollectionCount>) => void) => Promise<void>} apply as if one by one in the order given; throws SinkError, and then has applied nothing of it: RefusedError where
 *   it is one change that cannot be stored
 * @property {() => Promise<void>} reset drops all that earlier runs replicated
 * @property {() => Promise<void>} refresh others have changed tables or progress
 * @property {(isWanted?: (namespace: string) => boolean) => Promise<TableInfo[]>} tables the replicated collections, in the
 *   order of their namespaces
 * @property {(namespace: string, count: number) => Promise<TableHead>} firstRows
 * @property {() => Promise<void>} close
 * @property {() => Promise<void>} [settle] where `apply` does not wait for it, but calls `onStored` for each part: until all is
 *   stored
 * @property {number} [storingTime] where `apply` does not wait for it: the milliseconds spent on storing
 */

/**
 * @typedef {object} Progress
 * @property {string} source names a source and what was asked of it
 * @property {string} position text that only the source understands
 * @property {string[]} [forget] further entries, which this one takes the place of
 * @property {{ name: string, run: string }} [claim] stored only where the entry of this name is this run's
 *
 * @typedef {object} TableInfo
 * @property {string} namespace
 * @property {string | null} table its name in the sink
 * @property {number | null} rows
 *
 * @typedef {object} TableHead
 * @property {string[]} columns
 * @property {import('bsonrow').SqliteValue[][]} rows
 */

/**
 * @typedef {object} SinkOptions
 * @property {(message: string) => void} onWarning
 * @property {((change: import('../changes.mjs').Change, reason: string) => void) | null} onRefused takes note of a
 *   change that cannot be stored, and the rest is; `null`: such a change fails its batch
 * @property {(namespace: string) => boolean} [isSelected] the collections that the run replicates; by default all
 * @property {import('../backoff.mjs').RetryOptions} retry what is done about a lost connection
 * @property {{ index: number, count: number }} [part] which of several processes that write side by side this is
 */

/**
 * @param {string} address the path of an SQLite file, or `postgres://…`
 * @param {SinkOptions & { dryRun: boolean }} options
 * @returns {Promise<Sink>}
 */
export async function openSink(address, { dryRun, ...options }) {
  if (dryRun) return new NullSink();
  if (!isPostgresAddress(address)) return new SqliteSink(address, options);
  // The client is loaded only where it is needed.
  const { PostgresSink } = await import('./postgres/postgres.mjs');
  return PostgresSink.open(address, options);
}
