// Change events as a change stream sends them, with `fullDocument: 'updateLookup'`.
import { bson } from '../peer/index.mjs';
import { customer } from './customer.mjs';

const envelope = (random, operationType, document, coll = 'customers') => ({
  _id: { _data: Buffer.from(random.bytes(60)).toString('hex').toUpperCase() },
  operationType,
  clusterTime: new bson.Timestamp({
    t: random.integer(1_600_000_000, 1_700_000_000),
    i: random.integer(1, 99),
  }),
  wallTime: random.date(),
  fullDocument: document,
  ns: { db: 'shop', coll },
  documentKey: { _id: document._id },
});

/** An insert of a document into a collection. */
export const insertOf = (random, document, coll) => envelope(random, 'insert', document, coll);

/** An insert of a customer of `bytes` bytes. */
export const insertEvent = (random, bytes) => envelope(random, 'insert', customer(random, bytes));

/** An update of two columns of such a customer. */
export const updateEvent = (random, bytes) => {
  const document = customer(random, bytes);
  const { visits, updatedAt } = document;
  return {
    ...envelope(random, 'update', document),
    updateDescription: { updatedFields: { visits, updatedAt }, removedFields: [], truncatedArrays: [] },
  };
};
