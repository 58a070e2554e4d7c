// Change events and files of them, made with js-bson.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'bson';

let token = 0;

/** A change event as a Buffer; `fields` may replace any default. */
export function event(operationType, fields = {}) {
  token += 1;
  return Buffer.from(
    serialize({ _id: { _data: String(token) }, operationType, ns: { db: 'shop', coll: 'items' }, ...fields }),
  );
}

/** An insert, or another operation that carries the whole document. */
export function put(document, { operation = 'insert', ns = { db: 'shop', coll: 'items' } } = {}) {
  return event(operation, { ns, documentKey: { _id: document._id }, fullDocument: document });
}

export function remove(_id, ns = { db: 'shop', coll: 'items' }) {
  return event('delete', { ns, documentKey: { _id } });
}

/** Writes documents to a file of the folder. */
export function writeBson(folder, name, documents) {
  const file = join(folder, name);
  writeFileSync(
    file,
    Buffer.concat(documents.map((one) => (Buffer.isBuffer(one) ? one : Buffer.from(serialize(one))))),
  );
  return file;
}
