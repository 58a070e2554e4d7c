// All scenarios, in the order of the table.
import { columns } from './columns.mjs';
import { datasets } from './datasets.mjs';
import { events } from './events.mjs';
import { objectIds } from './object-ids.mjs';
import { orders } from './orders.mjs';
import { rows } from './rows.mjs';
import { texts } from './texts.mjs';

/**
 * @typedef {object} Scenario
 * @property {string} id
 * @property {string} title
 * @property {string} group
 * @property {'row' | 'event' | 'columns'} kind what is converted: a document, an event, a document without `_id`
 * @property {string[]} [contenders] ids of contenders; default: see contenders.mjs
 * @property {Record<string, number>} [targets] by contender, how many times as fast the addon is to be
 * @property {() => Buffer[]} documents what is converted, in turn
 * @property {string} [skipped] why it cannot run
 */

/** @type {Scenario[]} */
export const scenarios = [...events, ...rows, ...orders, ...texts, ...objectIds, ...columns, ...datasets];
