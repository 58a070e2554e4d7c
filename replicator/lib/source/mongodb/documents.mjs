// A reply of a snapshot → the row of each of its documents.
import { ConversionError, describeConversion } from '../../conversion-error.mjs';
import { putOf } from '../../event-change.mjs';
import { rawDocuments } from './reply.mjs';

/**
 * @param {import('bsonrow').ConvertedBatch} batch converted with `onError: 'return'`
 * @param {Uint8Array} cursor what it was converted from
 * @param {string} namespace
 * @param {object} bson the driver's copy
 * @yields {{ change: import('../../changes.mjs').Change | null, id: unknown,
 *   failure: import('./events.mjs').Failure | null }} `id` is `undefined` where it cannot be read
 */
export function* readSnapshot({ documents }, cursor, namespace, bson) {
  for (let index = 0; index < documents.length; index += 1) {
    const found = documents[index];
    const failed = (error, id, offset) => {
      const bytes = rawDocuments(cursor, bson)[index];
      const at = offset ?? bytes.byteOffset - cursor.byteOffset + error.offset;
      const reason = describeConversion(error);
      return { change: null, id, failure: { namespace, id, offset: at, reason, bytes, cause: error } };
    };
    if (found instanceof Error) {
      yield failed(found, found._id, found.offset);
      continue;
    }
    const { row, replicaId: id } = found;
    try {
      yield { change: putOf('document', namespace, row, id), id, failure: null };
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      yield failed(error, id);
    }
  }
}
