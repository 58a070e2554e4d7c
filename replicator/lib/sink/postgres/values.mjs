// Which PostgreSQL type a row value goes into.
//
// A column has one type, while an element may hold a number here and a text there. So values are of three classes,
// each with a column of its own; and a column of numbers is as narrow as its numbers allow.

import { EncodedText } from '../../encoded-text.mjs';
import { isInt64 } from '../values.mjs';

/** @typedef {'number' | 'text' | 'blob'} ValueClass */
/** @typedef {'bigint' | 'double precision' | 'numeric' | 'text' | 'bytea'} ColumnType */

/** @param {import('../../changes.mjs').RowValue} value */
const isText = (value) => typeof value === 'string' || value instanceof EncodedText;

/** @returns {ValueClass} of a value that is not null */
export function classOf(value) {
  if (isText(value)) return 'text';
  return typeof value === 'object' ? 'blob' : 'number';
}

/**
 * The type of a column that is to take this value, too.
 * @param {ColumnType | undefined} current `undefined`: the column is new
 * @returns {ColumnType} `numeric` holds every integer and every double with all its digits
 */
export function widenedType(current, value) {
  const narrowest = typeOf(value);
  if (current === undefined || current === narrowest) return narrowest;
  return 'numeric';
}

function typeOf(value) {
  if (isText(value)) return 'text';
  switch (typeof value) {
    case 'bigint':
      return isInt64(value) ? 'bigint' : 'numeric';
    case 'number':
      return 'double precision';
    default:
      return 'bytea';
  }
}
