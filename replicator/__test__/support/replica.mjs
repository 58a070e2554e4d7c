// Runs the command within the test's process, and reads what it left in SQLite.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import Database from 'libsql';
import { afterAll, expect } from 'vitest';
import { main } from '../../lib/cli.mjs';

/** The data shared beside the repository, or wherever BSONROW_DATA says. */
export const DATA = process.env.BSONROW_DATA ?? new URL('../../../../shared/data', import.meta.url).pathname;
export const SAMPLE = new URL('../../samples/shop.events.bson.gz', import.meta.url).pathname;

/** A folder that is gone after the tests of the file. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'bsonrow-replicator-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** @returns {Promise<{ code: number, stdout: string, stderr: string }>} */
export async function replicate(...args) {
  const output = { stdout: '', stderr: '' };
  const sinkOf = (name) =>
    new Writable({
      write(chunk, _encoding, done) {
        output[name] += chunk;
        done();
      },
    });
  const code = await main(args.map(String), { stdout: sinkOf('stdout'), stderr: sinkOf('stderr') });
  return { code, ...output };
}

/**
 * All rows of a replica: namespace → rows, under the names of their elements; NULL columns are left out, blobs
 * are hex digits.
 */
export function readReplica(file) {
  const db = new Database(file);
  const all = (sql, ...parameters) => db.prepare(sql).safeIntegers(true).raw().all(parameters);
  const replica = new Map();
  for (const [id, namespace, table] of all(
    'SELECT id, namespace, name FROM _bsonrow_tables ORDER BY namespace',
  )) {
    const columns = all('SELECT element, name FROM _bsonrow_columns WHERE table_id = ? ORDER BY rowid', id);
    const list = columns.flatMap(([, name]) => [`typeof(${quote(name)})`, bytesOfText(quote(name))]);
    const rows = all(
      `SELECT ${['_bsonrow_key', ...list].join(', ')} FROM ${quote(table)} ORDER BY rowid`,
    ).map((values) => {
      const row = {};
      columns.forEach(([element], i) => {
        const value = plainValue(values[1 + 2 * i], values[2 + 2 * i]);
        if (value !== null) Object.defineProperty(row, element, { value, enumerable: true });
      });
      return row;
    });
    replica.set(namespace, rows);
  }
  db.close();
  return replica;
}

/** One query, rows as arrays. */
export function query(file, sql, ...parameters) {
  const db = new Database(file);
  const rows = db.prepare(sql).safeIntegers(true).raw().all(parameters);
  db.close();
  return rows;
}

/**
 * A replica's tables are those expected, with the same rows in whatever order.
 * @param {Map<string, object[]>} replica
 * @param {Map<string, Map<unknown, object> | object[]>} expected by namespace
 */
export function expectSame(replica, expected) {
  expect([...replica.keys()]).toEqual([...expected.keys()].sort());
  for (const [namespace, rows] of replica) {
    expect(sortRows(rows), namespace).toEqual(sortRows([...expected.get(namespace).values()]));
  }
}

/** Rows in an order that does not depend on how they came, with their columns likewise. */
export function sortRows(rows) {
  const textOf = (row) =>
    JSON.stringify(
      Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)),
      (_name, value) => {
        if (typeof value === 'bigint') return `integer ${value}`;
        if (typeof value === 'number') return `real ${value}`;
        return value;
      },
    );
  return [...rows].map(textOf).sort();
}

/** Text is read as bytes, because libsql cuts a text it reads at its first NUL. */
const bytesOfText = (column) =>
  `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END`;

function plainValue(type, value) {
  if (type === 'text') return value.toString();
  return type === 'blob' ? value.toString('hex') : value;
}

const quote = (name) => `"${name.replaceAll('"', '""')}"`;
