/** SQLite's own answers: those of libsql, which runs everywhere, and of Node.js itself from version 22 on. */
import Libsql from 'libsql';

/**
 * @typedef {object} Engine
 * @property {string} title
 * @property {boolean} isOld whether it reads paths as some versions before 3.50 do: a quoted label ends at its first
 *   quote, a label by itself is none where it is of digits or empty, and a double may be the next one
 * @property {boolean} endsAtNul whether text that comes from it ends there
 * @property {(operator: '->' | '->>', json: string, path: string | bigint) => bigint | number | string | null} extract
 *   throws where SQLite says that the path is malformed
 */

/** @returns {Engine} */
function engineOf(name, prepare) {
  const version = prepare('SELECT sqlite_version()')();
  const statements = { '->': prepare('SELECT ? -> ?'), '->>': prepare('SELECT ? ->> ?') };
  const extract = (operator, json, path) => statements[operator](json, path);
  return {
    title: `${name}, SQLite ${version}`,
    isOld: extract('->', '{"\\"":1}', '$."\\""') === null,
    endsAtNul: extract('->>', '["a\\u0000b"]', '$[0]') === 'a',
    extract,
  };
}

function libsql() {
  const database = new Libsql(':memory:');
  return engineOf('libsql', (sql) => {
    const prepare = () => database.prepare(sql).raw().safeIntegers();
    let statement = prepare();
    return (...values) => {
      try {
        return statement.get(...values)[0];
      } catch (error) {
        // A statement that has failed fails ever after.
        statement = prepare();
        throw error;
      }
    };
  });
}

/** Undefined on versions of Node.js without it. */
async function nodeSqlite() {
  const sqlite = await import('node:sqlite').catch(() => undefined);
  if (sqlite === undefined) return undefined;
  const database = new sqlite.DatabaseSync(':memory:');
  return engineOf('node:sqlite', (sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return (...values) => Object.values(statement.get(...values))[0];
  });
}

/** @type {Engine[]} */
export const engines = [libsql(), await nodeSqlite()].filter((engine) => engine !== undefined);
