// Nested items: the time goes into JSON text.
import { order } from '../generate/order.mjs';
import { documentsOf } from './generated.mjs';

const scenario = (items, target) => ({
  id: `order-${items}`,
  title: `order with ${items} nested items`,
  group: 'Nested documents',
  kind: 'row',
  targets: { typescript: target },
  documents: documentsOf(16, (random) => order(random, items)),
});

export const orders = [scenario(10, 12), scenario(500, 15)];
