// A stream of change events with so many inserts to each update, and what the table holds at its end.

import { serialize } from './generate/bson.mjs';
import { insertEvent, updateEvent } from './generate/event.mjs';
import { Random } from './generate/random.mjs';

const SEED = 20_240_601;
const DOCUMENT_BYTES = 1000;
/** Updates concern any of the last so many documents. */
const RECENT = 1000;

/**
 * @param {number} insertsPerUpdate 0: updates only
 * @param {number} count events
 * @returns {{ bytes: Buffer, rows: number, visits: bigint }} the events, and of the table at the end the rows and the sum
 *   of the column `visits`
 */
export function makeStream(insertsPerUpdate, count) {
  const random = new Random(SEED);
  /** Documents by number, as the value of `visits` they have in the end. */
  const visits = [];
  const ids = [];
  const events = [];
  for (let i = 0; i < count; i += 1) {
    const isUpdate = i % (insertsPerUpdate + 1) === insertsPerUpdate;
    const event = isUpdate ? updateEvent(random, DOCUMENT_BYTES) : insertEvent(random, DOCUMENT_BYTES);
    let number = ids.length;
    if (isUpdate) {
      // A document that the table does not have yet is an update of before the stream began.
      number = insertsPerUpdate === 0 ? i % RECENT : random.integer(Math.max(0, number - RECENT), number - 1);
      const id = ids[number] ?? event.fullDocument._id;
      event.fullDocument._id = id;
      event.documentKey = { _id: id };
    }
    ids[number] = event.fullDocument._id;
    visits[number] = event.fullDocument.visits;
    events.push(serialize(event));
  }
  return {
    bytes: Buffer.concat(events),
    rows: ids.length,
    visits: visits.reduce((sum, one) => sum + BigInt(one), 0n),
  };
}
