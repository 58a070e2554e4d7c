// Compiled, not run: the types as a module written in TypeScript sees them.
import * as bson from 'bson';
import type {
  AsyncBatchOptions,
  BatchError,
  BatchOptions,
  BsonImplementation,
  BsonRowError,
  Change,
  CompatibilityContext,
  ConvertedBatch,
  ConverterOptions,
  IdentifiedRow,
  JsonExtractOptions,
  MessagePackError,
  MessagePackExtension,
  MessagePackOptions,
  MessagePackRun,
  MessagePackTable,
  ProjectedChangeStreamDocument,
  SqliteRow,
  SqliteValue,
} from 'bsonrow';
import {
  bufferToSqlite,
  DateRenderMode,
  fromMessagePackTable,
  getDateRenderMode,
  jsonExtract,
  messagePackExtensions,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
  SplitEventMerger,
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
  return path === undefined ? code : `${code} at byte ${offset} in ${path.join('.')}`;
}
export const used = [value, other, plain, id, idBuffer.length, fullDocument];

// Events.
const change: Change = converter.convertChange(source);
const merger = new SplitEventMerger();
const whole: Buffer | null = merger.push(source);
merger.reset();
export const event: ProjectedChangeStreamDocument = parseChangeDocument(source);
export const events = [change.row?._id, whole, merger.pending];

// Batches: errors are among the results only where they are returned.
const reply: ConvertedBatch = converter.convertBatch(source);
const rows: IdentifiedRow[] = converter.convertDocuments([source], { onError: 'throw' });
const changes: Change[] = converter.convertBatch(source, { as: 'changes' }).changes ?? [];
const { signal } = new AbortController();
const later: ConvertedBatch = await converter.convertBatchAsync(source, { signal });
const laterRows: IdentifiedRow[] = await converter.convertDocumentsAsync([source], { signal });
const returned: ConvertedBatch<BatchError> = converter.convertBatch(source, { onError: 'return' });
const batchOptions: BatchOptions = { as: 'auto' };
const asyncOptions: AsyncBatchOptions = { ...batchOptions, signal };
export const either: ConvertedBatch<BatchError>[] = [
  reply,
  later,
  converter.convertBatch(source, batchOptions),
  await converter.convertBatchAsync(source, asyncOptions),
];
export const mixed: (IdentifiedRow | BatchError)[][] = [
  rows,
  laterRows,
  converter.convertDocuments([source], { onError: 'return' }),
  await converter.convertDocumentsAsync([source], { onError: 'return' }),
];
export const described = (returned.changes ?? []).map((each) =>
  each instanceof Error ? `${each.index}, ${each._id}: ${describe(each)}` : each.operationType,
);
export const operations = changes.map((each) => each.operationType);

// MessagePack.
const messageOptions: MessagePackOptions = { of: 'batch', layout: 'table', onError: 'return' };
export const message: Buffer = converter.toMessagePack([source], messageOptions);
export const extensions: MessagePackExtension[] = messagePackExtensions({ bson });
const run: MessagePackRun = { names: ['row', ['_id'], 'replicaId'], rows: [[[1n], 1]] };
const error: MessagePackError = { error: { code: '', message: '', index: 1 } };
const table: MessagePackTable = [run, error];
export const objects: unknown[] = fromMessagePackTable(table);

// Options.
const implementation: BsonImplementation = bson.BSON;
const options: ConverterOptions = { bson: implementation, columns: ['_id'], lazyJson: true };
new NativeSourceRowConverter(context, options);
new NativeSourceRowConverter(context, { columns: { city: 'address.city' }, zeroCopy: true });

// JSON: a text, unless it is said otherwise.
const extractOptions: JsonExtractOptions = { as: 'value', mode };
const json: string | null = jsonExtract(source, '$.a', { mode });
export const extracted: (bigint | number | string | null)[] = [json, jsonExtract(source, 0n, extractOptions)];

// @ts-expect-error there is no such mode
bufferToSqlite(source, 3);
// @ts-expect-error a string is no BSON
converter.rawToSqliteRow('source');
// @ts-expect-error there is no such option
new NativeSourceRowConverter(context, { strictly: true });
// @ts-expect-error a column is no object
export const wrong: SqliteValue = {};
// @ts-expect-error there is no such option
converter.convertBatch(source, { onerror: 'return' });
// @ts-expect-error nothing else may stand for an error
converter.convertDocuments([source], { onError: 'skip' });
// @ts-expect-error an array of documents says for itself what it holds
converter.convertDocuments([source], { as: 'documents' });
// @ts-expect-error errors that are returned are among the results
export const unchecked: IdentifiedRow[] = converter.convertDocuments([source], { onError: 'return' });
// @ts-expect-error of options that may say so, too
export const unknown: ConvertedBatch = converter.convertBatch(source, batchOptions);
// @ts-expect-error a value may be a number
export const text: string | null = jsonExtract(source, 'a', { as: 'value' });
