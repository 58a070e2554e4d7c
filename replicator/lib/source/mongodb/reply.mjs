// The documents of a reply as they came, for those few of which the converted form is not enough.

/**
 * @param {Uint8Array} cursor the reply's `cursor` document
 * @param {{ deserialize: Function }} bson
 * @returns {Uint8Array[]} views of it
 */
export function rawDocuments(cursor, bson) {
  const fieldsAsRaw = { firstBatch: true, nextBatch: true };
  const { firstBatch, nextBatch } = bson.deserialize(cursor, { fieldsAsRaw, promoteBuffers: false });
  return firstBatch ?? nextBatch;
}
