// A change stream's reply, full of events, by one call: figures are those of one event.
import { insertEvent, updateEvent } from '../generate/event.mjs';
import { reply } from '../generate/reply.mjs';
import { documentsOf } from './generated.mjs';

const documentBytes = 963;

/**
 * @param {'insert' | 'update'} operation
 * @param {number} events of a reply
 * @param {number} replies how many distinct ones are walked through
 * @param {Record<string, number>} [targets]
 */
const scenario = (operation, events, replies, targets) => ({
  id: `batch-${operation}-${events}`,
  title: `reply of ${events.toLocaleString('en')} ${operation} event${events === 1 ? '' : 's'}, 1 KB each`,
  group: 'Replies by convertBatch, figures of one event',
  kind: 'batch',
  parts: events,
  targets,
  documents: documentsOf(replies, (random) =>
    reply(events, () => (operation === 'insert' ? insertEvent : updateEvent)(random, documentBytes)),
  ),
});

/** Of all calls that convert events, this is the fastest. */
const targets = { typescript: 9 };

export const batches = [
  scenario('insert', 1, 16),
  scenario('insert', 100, 4),
  scenario('insert', 1000, 1, targets),
  scenario('insert', 10_000, 1),
  scenario('update', 1000, 1, targets),
];
