/** The `cursor` documents of replies, written byte by byte. */
import { document, element, payload, string, Type } from './bson-bytes.mjs';

const RESUME_TOKEN = document([string('_data', '82FF')]);

/** A batch's array, of documents. */
export const batchOf = (documents) => payload.array(documents.map((bytes) => [Type.DOCUMENT, bytes]));

/**
 * A reply to `find` or `aggregate` (`firstBatch`) or to `getMore` (`nextBatch`), with a resume token where it is one
 * of a change stream.
 */
export const cursorReply = (
  batch,
  { name = 'nextBatch', id = 7n, ns = 'shop.items', isChangeStream = false } = {},
) =>
  document([
    element(Type.ARRAY, name, batch),
    element(Type.INT64, 'id', payload.int64(id)),
    string('ns', ns),
    ...(isChangeStream ? [element(Type.DOCUMENT, 'postBatchResumeToken', RESUME_TOKEN)] : []),
  ]);
