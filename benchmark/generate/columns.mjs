// Documents that differ in their columns: how many, which, and whether any of them was seen before.
import { double, objectId } from './bson.mjs';
import { phrase } from './text.mjs';

/** Values of the common types, in turn. */
const makers = [
  (random) => phrase(random, 3),
  (random) => random.integer(0, 1_000_000),
  (random) => double(random.amount()),
  (random) => random.date(),
  (random) => random.boolean(),
  (random) => objectId(random),
  () => null,
];

const value = (random, index) => makers[index % makers.length](random);

const withColumns = (random, names) => ({
  _id: objectId(random),
  ...Object.fromEntries(names.map((name, index) => [name, value(random, index)])),
});

/** A document of `count` columns, `_id` among them, always the same. */
export const wide = (random, count) =>
  withColumns(
    random,
    Array.from({ length: count - 1 }, (_, index) => `column_${index + 1}`),
  );

/** A document of 12 columns with names that no other document has. */
export const everNew = (random, serial) =>
  withColumns(
    random,
    Array.from({ length: 11 }, (_, index) => `reading_${serial}_${index}`),
  );

/** A document with one of 32 sets of columns, as in a collection of many kinds or with optional columns. */
export const mixed = (random) => {
  const set = random.integer(0, 31);
  return withColumns(
    random,
    Array.from({ length: 4 + (set % 9) }, (_, index) => `field_${(set * 7 + index * (1 + (set % 3))) % 40}`),
  );
};
