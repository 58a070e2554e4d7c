// The `cursor` document of a change stream's reply to `getMore`.
import { insertEvent } from './event.mjs';

/**
 * @param {import('./random.mjs').Random} random
 * @param {number} count how many events
 * @param {number} bytes the size of each event's document
 */
export function reply(random, count, bytes) {
  const nextBatch = Array.from({ length: count }, () => insertEvent(random, bytes));
  return { nextBatch, postBatchResumeToken: nextBatch.at(-1)._id, id: 1n, ns: 'shop.customers' };
}
