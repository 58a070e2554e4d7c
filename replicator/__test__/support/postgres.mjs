// The server of a test file, or why there is none; and what a replica in PostgreSQL holds.
import { afterAll } from 'vitest';
import { PostgresServer } from '../../scripts/postgres.mjs';
import { replicate } from './replica.mjs';

/**
 * A server that is gone after the tests of the file; it need not survive a power cut.
 * @returns {Promise<{ server: PostgresServer | null, missing: string }>} `missing` is the reason to be shown
 */
export async function startPostgres() {
  try {
    const server = await PostgresServer.create({ fsync: 'off', max_connections: '20' });
    afterAll(() => server.remove());
    return { server, missing: '' };
  } catch (error) {
    const missing = `skipped: ${error.message}`;
    console.warn(`Tests with PostgreSQL are ${missing}`);
    return { server: null, missing };
  }
}

/** Runs the command; waits are short, as all servers are near. */
export function replicateInto(address, source, ...args) {
  return replicate(source, '--into', address, '--retry-delay', 20, ...args);
}

/**
 * All rows of a replica, as readReplica gives those of SQLite: namespace → rows, under the names of their elements;
 * NULL columns are left out, blobs are hex digits. NaN, which SQLite cannot hold, is left out, too.
 */
export async function readPostgres(server, address) {
  const replica = new Map();
  const tables = await server.query(address, 'SELECT id, namespace, name FROM _bsonrow_tables');
  for (const [id, namespace, table] of tables.sort(([, a], [, b]) => (a < b ? -1 : 1))) {
    const columns = await server.query(
      address,
      'SELECT element, class, name FROM _bsonrow_columns WHERE table_id = $1 ORDER BY number',
      [id],
    );
    const list = ['1', ...columns.map(([, , name]) => `${quote(name)}::text`)];
    const rows = await server.query(address, `SELECT ${list.join(', ')} FROM ${quote(table)}`);
    replica.set(
      namespace,
      rows.map((values) => {
        const row = {};
        columns.forEach(([element, valueClass], i) => {
          const value = plainValue(valueClass, values[i + 1]);
          if (value === null) return;
          if (Object.hasOwn(row, element)) throw new Error(`two values of ${element} in a row`);
          Object.defineProperty(row, element, { value, enumerable: true });
        });
        return row;
      }),
    );
  }
  return replica;
}

function plainValue(valueClass, text) {
  if (text === null || valueClass === 'text') return text;
  if (valueClass === 'blob') return text.slice('\\x'.length);
  if (text === 'NaN') return null;
  if (!/^-?\d+$/.test(text)) return Number(text);
  const integer = BigInt(text);
  return BigInt.asIntN(64, integer) === integer ? integer : text;
}

const quote = (name) => `"${name.replaceAll('"', '""')}"`;
