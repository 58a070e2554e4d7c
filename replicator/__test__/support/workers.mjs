// What the tests of --workers have in common: the tables a run leaves, and the processes of a command.
import { readFileSync } from 'node:fs';
import { query, readReplica, sortRows } from './replica.mjs';

/** Rows and names of all tables of an SQLite file, to be compared as a whole. */
export function stateOf(file) {
  const rows = [...readReplica(file)].map(([namespace, all]) => [namespace, sortRows(all)]);
  const tables = query(file, 'SELECT namespace, name FROM _bsonrow_tables ORDER BY namespace');
  return { rows, tables };
}

/** What a source has left of its progress. */
export const progressOf = (file) =>
  query(file, "SELECT source, position FROM _bsonrow_progress WHERE source NOT LIKE '% run' ORDER BY source");

/** The processes that a process has started. */
export function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

/** Whether a process is there and no zombie. */
export function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The most memory that a process has had, in MiB. */
export const peakMiBOf = (pid) =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
