// Changes as MessagePack. Rows come and go as the converter of bsonrow writes them, a message each: of the process that
// reads, no row ever becomes JavaScript values.
//
// A message is the length of its head, the head, and the rows. The head lists the changes in groups of the same kind,
// with the key of each and the length of its row.
import { messagePackExtensions } from 'bsonrow';
import { addExtension, Packr, Unpackr } from 'msgpackr';
import { EncodedText } from '../../encoded-text.mjs';
import { longTextsToBytes } from './long-texts.mjs';

const LENGTH_BYTES = 4;

/**
 * Of a text that stays UTF-8 from here to the sink. Microseconds to decode a row and store it in SQLite, as a string and as
 * bytes: of ASCII, 4.1 and 4.1 with 512 bytes, 4.5 and 4.3 with 1 KiB, 5.6 and 4.8 with 2 KiB, 34 and 19 with 64 KiB; of
 * Chinese, 5.8 and 3.9, 8.2 and 4.2, 13 and 4.7, 272 and 21.
 */
export const MIN_ENCODED_BYTES = 1024;

const packr = new Packr({ useRecords: false });
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
for (const { type, decode } of messagePackExtensions()) addExtension({ type, unpack: decode });

/**
 * @param {import('../../changes.mjs').Change[]} changes whose rows are from `EncodingConverter`
 * @returns {Uint8Array[]} the parts of a message
 */
export function encode(changes) {
  const groups = [];
  const rows = [];
  let group = null;
  for (const { key, row, ...fields } of changes) {
    if (group === null || !isSame(group.fields, fields)) {
      group = { fields, keys: [], sizes: [] };
      groups.push(group);
    }
    group.keys.push(key ?? null);
    group.sizes.push(row?.length ?? 0);
    if (row !== undefined) rows.push(row);
  }
  const head = packr.pack(groups);
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  return [length, head, ...rows];
}

/** The kind, operation and names of a change. */
function isSame(a, b) {
  return (
    a.kind === b.kind &&
    a.operation === b.operation &&
    a.namespace === b.namespace &&
    a.to === b.to &&
    a.database === b.database
  );
}

/**
 * @param {Buffer} message which is changed, and must stay until the changes are stored: bytes in them are parts of it
 * @returns {import('../../changes.mjs').Change[]}
 */
export function decode(message) {
  let at = LENGTH_BYTES + message.readUInt32LE(0);
  const changes = [];
  for (const { fields, keys, sizes } of unpackr.unpack(message.subarray(LENGTH_BYTES, at))) {
    keys.forEach((key, index) => {
      const change = { ...fields };
      if (key !== null) change.key = key;
      const size = sizes[index];
      if (size > 0) change.row = decodeRow(message.subarray(at, at + size));
      at += size;
      changes.push(change);
    });
  }
  return changes;
}

/** Of a table of one document: see docs/message-pack.md of bsonrow. */
function decodeRow(bytes) {
  const encoded = bytes.length < MIN_ENCODED_BYTES ? [] : longTextsToBytes(bytes, MIN_ENCODED_BYTES);
  const [{ names, rows }] = unpackr.unpack(bytes);
  const columns = names[1];
  const values = rows[0][0];
  for (const index of encoded) values[index] = new EncodedText(values[index]);
  const row = {};
  for (let i = 0; i < columns.length; i += 1) {
    const name = columns[i];
    if (name !== '__proto__') row[name] = values[i];
    else
      Object.defineProperty(row, name, {
        value: values[i],
        enumerable: true,
        writable: true,
        configurable: true,
      });
  }
  return row;
}
