// The files that the user means, and the namespace of the documents in each.
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { InputError, UsageError } from '../errors.mjs';
import { formatNamespace } from '../namespace.mjs';

const DOCUMENT_FILE = /\.bson(\.gz)?$/i;
/** What mongodump writes beside collections that is none, and why it is left out. */
const LEFT_OUT = [
  { name: /^oplog\.bson(\.gz)?$/i, reason: 'oplog entries are not replicated' },
  // Of versions before 3.0; its documents have no _id.
  { name: /^system\.indexes\.bson(\.gz)?$/i, reason: 'definitions of indexes are not replicated' },
];

/**
 * @typedef {object} Input
 * @property {string} file
 * @property {number} size bytes on the disk
 * @property {string} namespace of plain documents, as mongodump lays out its folders
 */

/**
 * Files as they are named; of directories, every `.bson` and `.bson.gz` file below, in the order of their
 * names.
 * @param {string[]} paths
 * @param {(message: string) => void} onWarning
 * @returns {Promise<Input[]>}
 */
export async function findInputs(paths, onWarning) {
  const inputs = [];
  for (const path of paths) {
    const info = await statOf(path);
    if (info.isDirectory()) {
      const before = inputs.length;
      await walk(path, inputs, onWarning);
      if (inputs.length === before)
        throw new UsageError(`${path}: no .bson or .bson.gz file in this directory`);
    } else {
      inputs.push(await describe(path, info.size));
    }
  }
  return inputs;
}

async function walk(directory, inputs, onWarning) {
  const entries = await orInputError(directory, () => readdir(directory, { withFileTypes: true }));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(directory, entry.name);
    const leftOut = LEFT_OUT.find(({ name }) => name.test(entry.name));
    if (entry.isDirectory()) await walk(path, inputs, onWarning);
    else if (leftOut !== undefined) onWarning(`${path}: left out, ${leftOut.reason}`);
    else if (DOCUMENT_FILE.test(entry.name)) inputs.push(await describe(path, (await statOf(path)).size));
  }
}

const statOf = (path) => orInputError(path, () => stat(path));

async function orInputError(path, work) {
  try {
    return await work();
  } catch (error) {
    throw new InputError(path, null, reasonOf(error), { cause: error });
  }
}

function reasonOf({ code, message }) {
  if (code === 'ENOENT') return 'there is no such file or directory';
  return code === 'EACCES' ? 'it may not be read' : message;
}

async function describe(file, size) {
  return { file, size, namespace: await namespaceOfFile(file) };
}

/** `dump/shop/orders.bson` holds `shop.orders`. */
async function namespaceOfFile(file) {
  const path = resolve(file);
  const stem = basename(path).replace(DOCUMENT_FILE, '');
  const db = basename(dirname(path)) || 'dump';
  return formatNamespace(db, (await collectionInMetadata(join(dirname(path), stem))) ?? unescapeName(stem));
}

/** mongodump shortens a long collection name in the name of the file and keeps it whole in the metadata. */
async function collectionInMetadata(stem) {
  for (const [name, unpack] of [
    [`${stem}.metadata.json`, (bytes) => bytes],
    [`${stem}.metadata.json.gz`, gunzipSync],
  ]) {
    try {
      const metadata = JSON.parse(unpack(await readFile(name)).toString());
      if (typeof metadata.collectionName === 'string') return metadata.collectionName;
    } catch {
      // No metadata, or none that can be read: the name of the file has to do.
    }
  }
  return null;
}

/** mongodump writes characters that file systems refuse as `%XX`. */
function unescapeName(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
