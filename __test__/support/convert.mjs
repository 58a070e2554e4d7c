/** Short ways to convert one element at the three kinds of places. */
import { bufferToSqlite, DateRenderMode } from '../../index.js';
import { document, element, payload, Type } from './bson-bytes.mjs';

/** The row of a document of these elements. */
export const rowOf = (elements, mode = DateRenderMode.LEGACY_MILLISECONDS) =>
  bufferToSqlite(document(elements), mode);

/** The value as a column. */
export const asColumn = (type, bytes, mode) => rowOf([element(type, 'v', bytes)], mode).v;

/** The JSON text of the value in an array. */
export const inArray = (type, bytes, mode) =>
  rowOf([element(Type.ARRAY, 'v', payload.array([[type, bytes]]))], mode).v.slice(1, -1);

/** The JSON text of an object that holds only the value, under the name `v`. */
export const inObject = (type, bytes, mode) =>
  rowOf([element(Type.DOCUMENT, 'o', document([element(type, 'v', bytes)]))], mode).o;
