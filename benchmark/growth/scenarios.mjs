// What is to grow with nothing but the work: time an event with the batch, time a byte with the document, memory with time.

/** Events of a batch, from a hundred on: below that, a call is a part of the cost. */
const BATCHES = [100, 1_000, 10_000];
/** As many in all for each size, so that each walks through as much memory. */
export const EVENTS = 10_000;

/** Items of an order, for documents of about 1 KB to 16 MB. */
const ITEMS = [6, 60, 600, 6_000, 100_000];

/** No size is to take so many times as long as the first. */
const MOST_RELATIVE = 1.2;
/** MiB that memory may grow by once it has found its level. */
const MOST_GROWN = 64;

export const growthScenarios = [
  {
    id: 'batches',
    title: 'time an event, by the size of its batch',
    part: 'an event',
    digits: 0,
    target: MOST_RELATIVE,
    sizes: BATCHES,
  },
  {
    id: 'documents',
    title: 'time a byte, by the size of the document',
    part: 'a byte',
    digits: 2,
    target: MOST_RELATIVE,
    sizes: ITEMS,
  },
  { id: 'memory', title: 'memory over documents of all these sizes', target: MOST_GROWN, sizes: ITEMS },
];
