import * as bson from 'bson';
import {
  bufferToSqlite,
  DateRenderMode,
  getDateRenderMode,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from 'bsonrow';
import { check } from './check.cjs';

check({ bufferToSqlite, DateRenderMode, NativeSourceRowConverter, parseDocumentId }, bson);

if (getDateRenderMode({ edition: 2, overrides: new Map() }) !== DateRenderMode.ISO_MILLISECONDS) {
  throw new Error('edition 2 does not render ISO dates');
}
const fullDocument = { _id: 'a', n: 1 };
const event = bson.serialize({ _id: { _data: '00' }, operationType: 'insert', fullDocument });
if (!parseChangeDocument(event).fullDocument.equals(bson.serialize(fullDocument))) {
  throw new Error('the full document is not that of the event');
}
