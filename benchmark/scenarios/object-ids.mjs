// Arrays of ObjectIds, also against what an application does by hand: deserialise, then print each.
import { objectId } from '../generate/bson.mjs';
import { documentsOf } from './generated.mjs';

const scenario = (count, targets) => ({
  id: `object-ids-${count}`,
  title: `array of ${count.toLocaleString('en')} ObjectIds`,
  group: 'Arrays of ObjectIds',
  kind: 'row',
  contenders: ['typescript', 'older', 'js-bson', 'bsonrow'],
  targets,
  documents: documentsOf(16, (random) => ({
    _id: objectId(random),
    ids: Array.from({ length: count }, () => objectId(random)),
  })),
});

export const objectIds = [
  scenario(10, { typescript: 6 }),
  scenario(100, { typescript: 9 }),
  scenario(1000, { typescript: 12, 'js-bson': 20 }),
];
