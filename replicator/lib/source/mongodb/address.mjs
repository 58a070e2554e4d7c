// Connection strings of MongoDB: which address is one, and what may be shown of it.
import { UsageError } from '../../errors.mjs';

const SCHEME = /^mongodb(\+srv)?:\/\//i;
/** Scheme, credentials, hosts, database, options; the driver checks the rest. */
const ADDRESS = /^(mongodb(?:\+srv)?:\/\/)(?:[^/?]*@)?([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/i;

/** Whether an argument names a server rather than a file. */
export const isMongoAddress = (text) => SCHEME.test(text);

/**
 * @typedef {object} Address
 * @property {string} uri as it was given, credentials included
 * @property {string} shown for messages and for the name of the progress: no credentials, no options
 * @property {string | null} database
 * @property {Set<string>} options the names of the options that it sets, in lower case, as case does not count
 */

/**
 * @param {string} uri
 * @returns {Address}
 */
export function parseAddress(uri) {
  const match = ADDRESS.exec(uri);
  // The address is not repeated here: it may hold a password.
  if (match === null) throw new UsageError('the address of the server is not a connection string of MongoDB');
  const [, scheme, hosts, path = '', query = ''] = match;
  const database = path === '' ? null : decode(path);
  const sorted = hosts.split(',').sort().join(',');
  return {
    uri,
    shown: `${scheme}${sorted}${database === null ? '' : `/${database}`}`,
    database,
    options: new Set([...new URLSearchParams(query.toLowerCase()).keys()]),
  };
}

function decode(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new UsageError('the database in the address of the server has an escape that is none');
  }
}
