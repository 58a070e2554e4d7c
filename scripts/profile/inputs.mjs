// What the addon is trained with: documents and events of many kinds, none of which a benchmark measures.
import fc from 'fast-check';
import { anyValue, columns } from '../../__test__/support/arbitrary.mjs';
import { document, element } from '../../__test__/support/bson-bytes.mjs';
import { dataMissing, listFiles, readBytes, splitDocuments } from '../../__test__/support/data.mjs';
import { objectId, serialize } from '../../benchmark/generate/bson.mjs';
import { everNew, mixed, wide } from '../../benchmark/generate/columns.mjs';
import { customer } from '../../benchmark/generate/customer.mjs';
import { insertEvent, updateEvent } from '../../benchmark/generate/event.mjs';
import { order } from '../../benchmark/generate/order.mjs';
import { Random } from '../../benchmark/generate/random.mjs';
import { text } from '../../benchmark/generate/text.mjs';

/** Not the benchmark's. */
const SEED = 0x7ea1;
/** Files of more documents are the benchmark's. */
const MAX_DOCUMENTS = 100;

const random = new Random(SEED);

const make = (count, generate) =>
  Array.from({ length: count }, (_, serial) => serialize(generate(random, serial)));

const SCRIPTS = ['ascii', 'cyrillic', 'chinese', 'accented', 'emoji'];
const texts = SCRIPTS.flatMap((script) =>
  [20, 200, 5000].flatMap((length) =>
    make(20, () => ({
      _id: objectId(random),
      title: text(random, script, length),
      message: { body: text(random, script, length), read: random.boolean() },
    })),
  ),
);

const objectIds = [1, 10, 100, 1000].flatMap((count) =>
  make(10, () => ({ _id: objectId(random), ids: Array.from({ length: count }, () => objectId(random)) })),
);

/** Of every type. */
const arbitrary = fc
  .sample(fc.tuple(anyValue, columns), { seed: SEED, numRuns: 1000 })
  .map(([[type, bytes], rest]) => document([element(type, '_id', bytes), ...rest]));

/** Documents, by where they are from: those of one list resemble each other. */
export const documents = {
  customers: [
    ...make(400, () => customer(random, random.integer(500, 3000))),
    ...make(40, () => customer(random, random.integer(5000, 20_000))),
    ...make(4, () => customer(random, 150_000)),
  ],
  orders: [
    ...make(200, () => order(random, random.integer(1, 30))),
    ...make(4, () => order(random, random.integer(100, 1000))),
  ],
  texts,
  objectIds,
  wide: make(50, () => wide(random, random.integer(20, 200))),
  mixed: make(500, mixed),
  everNew: make(500, everNew),
  arbitrary,
};

/** Change events, likewise. */
export const events = {
  inserts: make(400, () => insertEvent(random, random.integer(500, 3000))),
  updates: make(400, () => updateEvent(random, random.integer(500, 3000))),
};

if (dataMissing) console.warn(`The profile is taken without real documents: ${dataMissing}.`);
for (const file of listFiles('.', '.bson', '.bson.gz')) {
  const all = splitDocuments(readBytes(file)).documents.map((bytes) => Buffer.from(bytes));
  if (all.length > 0 && all.length <= MAX_DOCUMENTS)
    (file.startsWith('events/') ? events : documents)[file] = all;
}
