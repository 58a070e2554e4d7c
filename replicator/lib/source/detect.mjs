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

/**
 * An operation, and beside it a resume token or a namespace in the shape that a change stream gives it. Of an event that
 * was split, any fragment may hold the operation.
 */
function isChangeEvent({ _id, operationType, ns, splitEvent }) {
  const hasToken = typeof _id?._data === 'string';
  if (typeof operationType === 'string') return hasToken || typeof ns?.db === 'string';
  return hasToken && splitEvent?.fragment !== undefined;
}
