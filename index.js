/**
 * The public entry. Each export is named, so that `import { … } from 'bsonrow'` finds it; index.d.ts documents
 * them. The addon itself is loaded by lib/native.js.
 */

const { DateRenderMode, getDateRenderMode } = require('./lib/context.js');
const { NativeSourceRowConverter } = require('./lib/converter.js');
const { bufferToSqlite, parseChangeDocument, parseDocumentId } = require('./lib/functions.js');
const { jsonExtract } = require('./lib/json-extract.js');
const { fromMessagePackTable, messagePackExtensions } = require('./lib/message-pack.js');
const { SplitEventMerger } = require('./lib/split-events.js');

module.exports = {
  DateRenderMode,
  NativeSourceRowConverter,
  SplitEventMerger,
  bufferToSqlite,
  fromMessagePackTable,
  getDateRenderMode,
  jsonExtract,
  messagePackExtensions,
  parseChangeDocument,
  parseDocumentId,
};
