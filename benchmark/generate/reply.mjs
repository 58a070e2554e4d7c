// The `cursor` document of a change stream's reply to `getMore`.

/**
 * @param {number} count how many events
 * @param {() => { _id: object }} makeEvent
 */
export function reply(count, makeEvent) {
  const nextBatch = Array.from({ length: count }, makeEvent);
  return { nextBatch, postBatchResumeToken: nextBatch.at(-1)._id, id: 1n, ns: 'shop.customers' };
}
