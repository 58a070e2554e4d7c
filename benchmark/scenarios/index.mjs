// All scenarios, in the order of the table.
import { batches } from './batches.mjs';
import { columns } from './columns.mjs';
import { datasets } from './datasets.mjs';
import { events } from './events.mjs';
import { messages } from './messages.mjs';
import { objectIds } from './object-ids.mjs';
import { options } from './options.mjs';
import { orders } from './orders.mjs';
import { rows } from './rows.mjs';
import { texts } from './texts.mjs';

/**
 * @typedef {object} Scenario
 * @property {string} id
 * @property {string} title
 * @property {string} group
 * @property {'row' | 'sharedRow' | 'someColumns' | 'somePaths' | 'lazyRow' | 'columns' | 'event' | 'change' | 'batch' |
 *   'message' | 'table'} kind what is converted: a document, with options or without, a document without `_id`, an event
 *   by `parseChangeDocument` and `rawToSqliteRow`, an event by `convertChange`, a reply full of events, a reply full of
 *   documents to a message
 * @property {number} [parts] events of each reply, rows of each message: figures are those of one event. Default 1
 * @property {string[]} [contenders] ids of contenders; default: see contenders.mjs
 * @property {Record<string, number>} [targets] by contender, how many times as fast the addon is to be
 * @property {number} [mostNs] how many nanoseconds the addon is to take at most
 * @property {() => Buffer[]} documents what is converted, in turn
 * @property {string} [skipped] why it cannot run
 */

/** @type {Scenario[]} */
export const scenarios = [
  ...events,
  ...batches,
  ...messages,
  ...rows,
  ...orders,
  ...texts,
  ...objectIds,
  ...columns,
  ...options,
  ...datasets,
];
