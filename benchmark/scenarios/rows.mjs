// `rawToSqliteRow` alone, on a document of twelve columns.
import { customer } from '../generate/customer.mjs';
import { documentsOf } from './generated.mjs';
import { sizes } from './sizes.mjs';

const targets = { '1 KB': 10, '10 KB': 7, '100 KB': 1.3 };

const copied = sizes.map(({ name, bytes }) => ({
  id: `row-${name.replace(' ', '').toLowerCase()}`,
  title: `row of a ${name} document`,
  group: 'Documents',
  kind: 'row',
  targets: { typescript: targets[name] },
  documents: documentsOf(16, (random) => customer(random, bytes)),
}));

const [largest] = sizes.slice(-1);

export const rows = [
  ...copied,
  {
    id: 'row-zero-copy',
    title: `row of a ${largest.name} document, zeroCopy`,
    group: 'Documents',
    kind: 'sharedRow',
    targets: { typescript: 6 },
    documents: documentsOf(16, (random) => customer(random, largest.bytes)),
  },
];
