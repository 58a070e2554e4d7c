// ObjectIds in the shapes that js-bson measures, also against what an application does by hand: deserialise, then print
// each.
import { objectId } from '../generate/bson.mjs';
import { documentsOf } from './generated.mjs';

const scenario = (id, title, fields, targets) => ({
  id: `object-ids-${id}`,
  title,
  group: 'ObjectIds',
  kind: 'row',
  contenders: ['typescript', 'older', 'js-bson', 'bsonrow'],
  targets,
  documents: documentsOf(16, (random) => ({ _id: objectId(random), ...fields(random) })),
});

const array = (count, targets) =>
  scenario(
    count,
    `array of ${count.toLocaleString('en')} ObjectId${count === 1 ? '' : 's'}`,
    (random) => ({ ids: Array.from({ length: count }, () => objectId(random)) }),
    targets,
  );

export const objectIds = [
  scenario('field', 'one ObjectId, the _id', () => ({})),
  array(1),
  array(10, { typescript: 6 }),
  array(100, { typescript: 9 }),
  array(1000, { typescript: 12, 'js-bson': 20 }),
];
