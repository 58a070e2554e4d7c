// What a sink is, and which one an address opens.
import { NullSink } from './null.mjs';
import { SqliteSink } from './sqlite.mjs';

/**
 * Where changes end. Everything a sink is told, it keeps or refuses as a whole: rows and progress of one
 * `apply` are one transaction, so a run that is killed goes on where its rows end.
 *
 * @typedef {object} Sink
 * @property {(source: string) => Promise<string | null>} readPosition how far a source was applied
 * @property {(changes: import('../changes.mjs').Change[], progress: Progress | null) => Promise<void>} apply
 *   in the order given; throws SinkError, and then has applied nothing of it
 * @property {() => Promise<void>} reset drops all that earlier runs replicated
 * @property {() => Promise<TableInfo[]>} tables the replicated collections, in the order of their namespaces
 * @property {(namespace: string, count: number) => Promise<TableHead>} firstRows
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} Progress
 * @property {string} source names a source and what was asked of it
 * @property {string} position text that only the source understands
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
 * @param {string} address the path of an SQLite file
 * @param {{ dryRun: boolean, onWarning: (message: string) => void }} options
 * @returns {Sink}
 */
export function openSink(address, { dryRun, onWarning }) {
  return dryRun ? new NullSink() : new SqliteSink(address, onWarning);
}
