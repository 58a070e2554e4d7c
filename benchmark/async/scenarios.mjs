// Replies of a given size: of change events, and of documents whose nested items are most of them.
import { serialize } from '../generate/bson.mjs';
import { insertEvent } from '../generate/event.mjs';
import { order } from '../generate/order.mjs';
import { Random } from '../generate/random.mjs';

/** A reply of as many objects as `bytes` have room for. */
function replyOf(generate, bytes, fields) {
  const random = new Random(0x5eed);
  const count = Math.max(1, Math.round(bytes / serialize(generate(random)).length));
  const nextBatch = Array.from({ length: count }, () => generate(random));
  return { count, reply: serialize({ nextBatch, id: 1n, ns: 'shop.items', ...fields }) };
}

const eventBytes = 963;
const orders = (items) => ({
  id: `orders-${items}`,
  title: `orders with ${items} nested items`,
  share: 1 / 5,
  make: (bytes) => replyOf((random) => order(random, items), bytes),
});

/**
 * `share`: the main thread is to be busy for less than that part of the synchronous call's time.
 * @type {{ id: string, title: string, share: number, make: (bytes: number) => { count: number, reply: Buffer } }[]}
 */
export const asyncScenarios = [
  {
    id: 'events',
    title: 'insert events, 1 KB each',
    share: 1 / 2,
    make: (bytes) =>
      replyOf((random) => insertEvent(random, eventBytes), bytes, { postBatchResumeToken: { _data: '82' } }),
  },
  orders(10),
  orders(500),
];
