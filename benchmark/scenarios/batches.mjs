// A change stream's reply, full of events, by one call: figures are those of one event.
import { reply } from '../generate/reply.mjs';
import { documentsOf } from './generated.mjs';

/** Events of a reply, and how many distinct replies are walked through. */
const lengths = [
  { events: 1, replies: 16 },
  { events: 100, replies: 4 },
  { events: 1000, replies: 1, target: 8 },
  { events: 10_000, replies: 1 },
];

const documentBytes = 963;

export const batches = lengths.map(({ events, replies, target }) => ({
  id: `batch-${events}`,
  title: `reply of ${events.toLocaleString('en')} insert event${events === 1 ? '' : 's'}, 1 KB each`,
  group: 'Replies by convertBatch, figures of one event',
  kind: 'batch',
  parts: events,
  targets: target === undefined ? {} : { typescript: target },
  documents: documentsOf(replies, (random) => reply(random, events, documentBytes)),
}));
