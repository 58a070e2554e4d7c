// Compiled, not run: the types as a module written in TypeScript sees them.
import * as bson from 'bson';
import type { BsonRowError, CompatibilityContext, SqliteRow, SqliteValue } from 'bsonrow';
import {
  bufferToSqlite,
  DateRenderMode,
  getDateRenderMode,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from 'bsonrow';

const context: CompatibilityContext = {
  edition: 2,
  overrides: new Map([[{ name: 'timestamps_iso8601' }, true]]),
  maxTimeValuePrecision: { subSecondDigits: 3 },
};
const mode: DateRenderMode = getDateRenderMode(context);
const converter = new NativeSourceRowConverter(context, { bson, strict: true });
new NativeSourceRowConverter(DateRenderMode.ISO_SECONDS);

const source = Buffer.from(bson.serialize({ _id: 1 }));
const { row, replicaId } = converter.rawToSqliteRow(source);
const value: SqliteValue | undefined = row._id;
const other: SqliteRow = converter.documentToSqliteRow({ _id: replicaId });
const plain: SqliteRow = bufferToSqlite(new Uint8Array(source), mode);
const { id, idBuffer } = parseDocumentId(source);
const fullDocument: Buffer | null | undefined = parseChangeDocument(source, { bson }).fullDocument;

export function describe({ code, offset, path }: BsonRowError): string {
  return `${code} at byte ${offset} in ${path.join('.')}`;
}
export const used = [value, other, plain, id, idBuffer.length, fullDocument];

// @ts-expect-error there is no such mode
bufferToSqlite(source, 3);
// @ts-expect-error a string is no BSON
converter.rawToSqliteRow('source');
// @ts-expect-error there is no such option
new NativeSourceRowConverter(context, { strictly: true });
// @ts-expect-error a column is no object
export const wrong: SqliteValue = {};
