// Runs of changes → statements, and what no statement can store.
import { createHash } from 'node:crypto';
import { EncodedText } from '../../encoded-text.mjs';
import { quoteName } from '../naming.mjs';
import { KEY_COLUMN, OVERFLOW_COLUMN } from '../tables.mjs';
import { overflowJson } from '../values.mjs';
import { encodeArray, encodeValue } from './parameters.mjs';

/**
 * PostgreSQL keeps a row in a page of 8 KiB. Long values move out of it, but those of up to 24 bytes stay, and so
 * no more than these are sure to fit.
 */
const MAX_VALUES_IN_ROW = 300;

/** An entry of an index takes a third of a page at most: a longer key is represented by its digest. */
const MAX_KEY_BYTES = 1024;
/** No BSON element type, so that no key begins with it. */
const DIGEST_PREFIX = Buffer.of(0);

/** Up to so many columns a statement names them all, so that all rows of the table have one statement. */
const MAX_COLUMNS_ALWAYS_NAMED = 100;

/** Statements known for a table; a collection of ever-new element names must not fill the memory. */
const MAX_PREPARED = 256;

const BYTEA = 'bytea';
const TEXT = 'text';

/** Why PostgreSQL cannot hold the change; `null` where nothing speaks against it. */
export function unstorable({ namespace, to, database, row }) {
  for (const name of [namespace, to, database]) {
    if (name?.includes('\0')) return 'PostgreSQL has no names with U+0000';
  }
  for (const name in row) {
    const value = row[name];
    const hasNul =
      value instanceof EncodedText
        ? value.bytes.includes(0)
        : typeof value === 'string' && value.includes('\0');
    if (hasNul) return `PostgreSQL has no text with U+0000 (column ${name})`;
  }
  return null;
}

/**
 * Stores whole rows: columns that a row does not have become NULL.
 * @param {import('./catalog.mjs').Catalog} catalog
 * @param {import('../../changes.mjs').Change[]} changes `put`s of one collection, each with another key
 * @returns {import('./connection.mjs').Statement}
 */
export function upsert(catalog, namespace, changes) {
  const table = catalog.findOrCreate(namespace);
  const values = new Map();
  const valuesOf = (column) => {
    if (!values.has(column)) values.set(column, new Array(changes.length).fill(null));
    return values.get(column);
  };
  let overflow = null;
  changes.forEach(({ row }, index) => {
    const rest = placeRow(catalog, table, row, (column, value) => {
      valuesOf(column)[index] = value;
    });
    if (rest.length === 0) return;
    catalog.ensureOverflow(table);
    overflow ??= new Array(changes.length).fill(null);
    overflow[index] = overflowJson(rest);
  });

  const isNarrow = table.columns.length <= MAX_COLUMNS_ALWAYS_NAMED;
  const columns = table.columns.filter((column) => isNarrow || values.has(column));
  const given = [
    { name: KEY_COLUMN, type: BYTEA, values: changes.map(({ key }) => storedKey(key)) },
    ...columns.map((column) => ({ name: column.name, type: column.type, values: valuesOf(column) })),
    ...(overflow === null ? [] : [{ name: OVERFLOW_COLUMN, type: TEXT, values: overflow }]),
  ];
  // A row alone may be one that is large: its values go as they are, with no copy of them in an array.
  const isOne = changes.length === 1;
  return {
    sql: upsertSql(table, given, isOne ? valuesOfOne(given) : valuesOfMany(given)),
    values: given.map(({ type, values }) => (isOne ? encodeValue(values[0]) : encodeArray(type, values))),
  };
}

const valuesOfOne = (given) => `VALUES (${given.map(({ type }, i) => `$${i + 1}::${type}`).join(', ')})`;

const valuesOfMany = (given) =>
  `SELECT * FROM unnest(${given.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ')})`;

/** Hands each value of a row to its column; returns those that have to go to the overflow column. */
function placeRow(catalog, table, row, place) {
  const rest = [];
  let placed = 0;
  for (const element of Object.keys(row)) {
    const value = row[element];
    if (value === null) continue;
    const column = placed < MAX_VALUES_IN_ROW ? catalog.column(table, element, value) : null;
    if (column === null) {
      rest.push([element, value]);
    } else {
      place(column, value);
      placed += 1;
    }
  }
  return rest;
}

function upsertSql(table, given, values) {
  const names = given.map(({ name }) => quoteName(name));
  const isGiven = new Set(given.map(({ name }) => name));
  const all = table.columns.map(({ name }) => name);
  if (table.hasOverflow) all.push(OVERFLOW_COLUMN);
  const set = all.map((name) => {
    const quoted = quoteName(name);
    return `${quoted} = ${isGiven.has(name) ? `excluded.${quoted}` : 'NULL'}`;
  });
  return (
    `INSERT INTO ${table.quotedName} (${names.join(', ')}) ${values} ` +
    `ON CONFLICT (${KEY_COLUMN}) ${set.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${set.join(', ')}`}`
  );
}

/** @returns {import('./connection.mjs').Statement} */
export function removal(table, changes) {
  return {
    sql: `DELETE FROM ${table.quotedName} WHERE ${KEY_COLUMN} = ANY($1::bytea[])`,
    values: [
      encodeArray(
        BYTEA,
        changes.map(({ key }) => storedKey(key)),
      ),
    ],
  };
}

function storedKey(key) {
  if (key.length <= MAX_KEY_BYTES) return key;
  return Buffer.concat([DIGEST_PREFIX, createHash('sha256').update(key).digest()]);
}

/**
 * The statement under a name from its second use on, so that the server parses and plans it once; shapes that come
 * only once are not kept there.
 * @param {() => string} nextName a name that is new on the connection
 */
export function prepared(table, statement, nextName) {
  const known = table.prepared.get(statement.sql);
  if (known === undefined) {
    if (table.prepared.size >= MAX_PREPARED) table.prepared.clear();
    table.prepared.set(statement.sql, { name: null });
    return statement;
  }
  known.name ??= nextName();
  return { ...statement, name: known.name };
}
