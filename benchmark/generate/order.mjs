// An order: a few columns, and nested items that make up most of its bytes.
import { double, objectId } from './bson.mjs';
import { phrase } from './text.mjs';

const item = (random) => ({
  productId: objectId(random),
  sku: `SKU-${random.integer(10_000, 99_999)}`,
  name: phrase(random, 2),
  quantity: random.integer(1, 9),
  price: double(random.amount()),
  inStock: random.boolean(),
  addedAt: random.date(),
  options: { colour: random.pick(['red', 'green', 'blue']), size: random.pick(['S', 'M', 'L']) },
});

/**
 * @param {import('./random.mjs').Random} random
 * @param {number} items
 */
export const order = (random, items) => ({
  _id: objectId(random),
  customerId: objectId(random),
  status: random.pick(['placed', 'paid', 'shipped']),
  placedAt: random.date(),
  total: double(random.amount()),
  items: Array.from({ length: items }, () => item(random)),
});
