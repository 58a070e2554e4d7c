// BSON of sample documents, with the peer's bson: the one that all contenders share.
import { bson } from '../peer/index.mjs';

/** @param {import('./random.mjs').Random} random */
export const objectId = (random) => new bson.ObjectId(random.bytes(12));

/** @param {number} value kept as a double although it may be integral */
export const double = (value) => new bson.Double(value);

export const serialize = (document) => Buffer.from(bson.serialize(document));
