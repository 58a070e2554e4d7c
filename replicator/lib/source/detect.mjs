// Tells change events from plain documents.
import { parseChangeDocument } from 'bsonrow';

/** @returns {'events' | 'documents'} what the file that begins with this document holds */
export function detectFormat(firstDocument) {
  let fields;
  try {
    fields = parseChangeDocument(firstDocument);
  } catch {
    // Damage is reported where the document is converted, with its place.
    return 'documents';
  }
  return isChangeEvent(fields) ? 'events' : 'documents';
}

/** An operation, and beside it a resume token or a namespace in the shape that a change stream gives it. */
function isChangeEvent(fields) {
  if (typeof fields.operationType !== 'string') return false;
  return typeof fields._id?._data === 'string' || typeof fields.ns?.db === 'string';
}
