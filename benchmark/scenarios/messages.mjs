// The rows of a reply to `find` as MessagePack: against the TypeScript converter's rows packed by msgpackr, and against
// msgpackr alone, which is given rows that have been made before. Figures are those of one row.
import { customer } from '../generate/customer.mjs';
import { documentsOf } from './generated.mjs';

const rows = 1000;
const documentBytes = 963;

const scenario = (id, title, kind, targets) => ({
  id: `message-${id}`,
  title: `message of ${rows.toLocaleString('en')} rows, 1 KB each, ${title}`,
  group: 'Rows as MessagePack, figures of one row',
  kind,
  contenders: ['typescript', 'msgpackr', 'bsonrow'],
  parts: rows,
  targets,
  documents: documentsOf(1, (random) => ({
    firstBatch: Array.from({ length: rows }, () => customer(random, documentBytes)),
    id: 0n,
    ns: 'shop.customers',
  })),
});

export const messages = [
  scenario('maps', 'maps', 'message', { typescript: 8 }),
  scenario('table', 'table', 'table', { typescript: 8 }),
];
