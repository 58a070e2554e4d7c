// A document of twelve columns, brought to an exact size by one long ASCII string.
import { double, objectId, serialize } from './bson.mjs';
import { phrase } from './text.mjs';

/**
 * @param {import('./random.mjs').Random} random
 * @param {number} bytes the size of the BSON document
 */
export function customer(random, bytes) {
  const document = {
    _id: objectId(random),
    name: phrase(random, 2),
    email: `${phrase(random, 1)}.${random.integer(100, 999)}@example.com`,
    active: random.boolean(),
    visits: random.integer(0, 100_000),
    points: BigInt(random.uint32()) << 20n,
    balance: double(random.amount()),
    createdAt: random.date(),
    updatedAt: random.date(),
    address: {
      street: `${random.integer(1, 200)} ${phrase(random, 2)}`,
      city: phrase(random, 1),
      location: { latitude: random.amount(), longitude: random.amount() },
      verified: random.boolean(),
    },
    tags: Array.from({ length: 3 }, () => phrase(random, 1)),
    notes: '',
  };
  document.notes = 'n'.repeat(bytes - serialize(document).length);
  return document;
}
