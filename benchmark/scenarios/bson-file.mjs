// Files of BSON documents, one after another with no separator, as mongodump writes them; `.gz` is gzip of that.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/**
 * The documents of a file, each a Buffer of memory of its own: the driver does not hand over views of one file.
 * Reading stops, quietly, at bytes that are no document: some files are damaged on purpose.
 * @param {string} path
 */
export function readDocuments(path) {
  const bytes = path.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path);
  const documents = [];
  for (let offset = 0; offset + 4 <= bytes.length; ) {
    const length = bytes.readInt32LE(offset);
    if (length < 5 || offset + length > bytes.length) break;
    documents.push(Buffer.from(bytes.subarray(offset, offset + length)));
    offset += length;
  }
  return documents;
}
