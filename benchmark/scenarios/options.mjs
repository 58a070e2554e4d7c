// What is gained where not all of a row is wanted: some columns of a document, or JSON text that nobody reads.
import { customer } from '../generate/customer.mjs';
import { order } from '../generate/order.mjs';
import { documentsOf } from './generated.mjs';
import { sizes } from './sizes.mjs';

const [largest] = sizes.slice(-1);

export const options = [
  {
    id: 'columns-2-of-12',
    title: `2 of 12 columns of a ${largest.name} document`,
    kind: 'someColumns',
    mostNs: 1000,
    documents: documentsOf(16, (random) => customer(random, largest.bytes)),
  },
  {
    id: 'paths-2',
    title: `2 paths into a ${largest.name} document`,
    kind: 'somePaths',
    documents: documentsOf(16, (random) => customer(random, largest.bytes)),
  },
  {
    id: 'lazy-order-500',
    title: 'order with 500 nested items, lazyJson, not read',
    kind: 'lazyRow',
    contenders: ['eager', 'bsonrow'],
    targets: { eager: 50 },
    documents: documentsOf(16, (random) => order(random, 500)),
  },
].map((scenario) => ({ ...scenario, group: 'Less than a row' }));
