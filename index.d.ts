/// <reference types="node" />

/**
 * bsonrow: raw MongoDB BSON to flat SQLite rows.
 *
 * Every function takes BSON as the driver hands it over with `raw: true` (a `Buffer`, or any `Uint8Array` view
 * of any kind of `ArrayBuffer`) and never writes to it. Nothing may be writing to it during a call, such as an
 * unfinished `fs.read` into the same memory. A result holds no reference to the input, except where a function or
 * option says so.
 *
 * An option by a name that its function does not know is a TypeError wherever there are options.
 */

/**
 * A column value, as SQLite's storage classes appear in JavaScript: `null` for NULL, `bigint` for INTEGER,
 * `number` for REAL (never an integer: an integral double becomes a `bigint`), `string` for TEXT,
 * `Uint8Array` for BLOB. An INTEGER has 64 bits at most; a timestamp may be 2^63 and more, an integral double of any
 * size: store these `bigint`s as text, or as real numbers.
 */
export type SqliteValue = null | bigint | number | string | Uint8Array;

/** A row: an ordinary object, one own property a column, in the order of the document. */
export type SqliteRow = Record<string, SqliteValue>;

/** How a UTC datetime becomes text. `const` object and type of the same name, like a TypeScript enum. */
export declare const DateRenderMode: {
  /** `2023-03-06 13:47:00.000Z` */
  readonly LEGACY_MILLISECONDS: 0;
  /** `2023-03-06T13:47:00.000Z` */
  readonly ISO_MILLISECONDS: 1;
  /** `2023-03-06T13:47:00Z`: the fraction is cut, not rounded. */
  readonly ISO_SECONDS: 2;
};
export type DateRenderMode = 0 | 1 | 2;

/**
 * The part of the replication service's compatibility context that decides how dates look. Any object of this
 * shape will do; it is read when a converter is made.
 */
export interface CompatibilityContext {
  /** Options such as `timestamps_iso8601` are on from edition 2. */
  readonly edition: number;
  /** Options switched by name, whatever the edition says. */
  readonly overrides: ReadonlyMap<{ readonly name: string }, boolean>;
  /** Digits below the second; 0 renders whole seconds. `null` or absent: milliseconds. */
  readonly maxTimeValuePrecision?: { readonly subSecondDigits: number } | null;
}

/** The parts of the `bson` package that identities are built with. `mongodb`'s export `BSON` is one, too. */
export interface BsonImplementation {
  ObjectId: new (id: Uint8Array) => unknown;
  Timestamp: new (value: { t: number; i: number }) => unknown;
  Binary: new (bytes: Uint8Array, subtype: number) => unknown;
  UUID: new (bytes: Uint8Array) => unknown;
  deserialize(bytes: Uint8Array, options?: object): Record<string, unknown>;
  serialize(document: object, options?: object): Uint8Array;
}

export interface ConverterOptions {
  /**
   * The BSON implementation, version 6 or 7, whose classes `replicaId` is built with.
   * Default: the installed peer dependency, as `require('bson')` finds it from this package. An application
   * that loads bson as an ES module, or that has two copies, passes its own: classes of two copies are never
   * equal. What is prepared for an implementation is kept as long as the thread lives: pass the same one every time.
   */
  bson?: BsonImplementation;
  /**
   * The columns of rows. Default: all elements of a document.
   *
   * An array of names: the row has those of its columns, in the order of the document, as if the others had been
   * left out. A name is compared as it is, dots included.
   *
   * An object of paths by column: the row has all of these columns, in the object's order, each with the value that
   * the element at its path would have as a column of its own, or `null` where there is none. A path is names of
   * documents and positions of arrays (from 0), separated by dots: `items.0.sku`. It goes through documents and arrays
   * only, and of elements of one name in one document the last one counts, as in a row.
   *
   * Either way `replicaId` is the document's first `_id`, whether that is selected or not. What is not selected is
   * stepped over by its length and not looked at: what is wrong inside it is no error (but with `strict`).
   */
  columns?: readonly string[] | Readonly<Record<string, string>>;
  /**
   * Whether the JSON text of a column (of a document, an array, and all others whose column is JSON text) is made when
   * it is read for the first time, and kept. Such a column is an own enumerable accessor of the row instead of a
   * plain property. Assigning to it puts the value in its place. Where its bytes are malformed, reading it throws the
   * BsonRowError that the conversion would have thrown, each time.
   *
   * A row with such columns keeps its source alive (of a batch, the whole reply; of an event, the whole event), until
   * they have all been read or assigned, or the row is dropped. Until then the caller must not write to the source:
   * what is read then is what the bytes have become. Where it was detached or shortened, reading is a TypeError.
   * Default `false`.
   */
  lazyJson?: boolean;
  /**
   * Refuse all bytes that the BSON specification forbids, also where the result is well defined: bytes after
   * the document, boolean bytes other than 0 and 1, ill-formed UTF-8, a binary of subtype 2 whose inner length
   * is not its length less 4. Default `false`.
   */
  strict?: boolean;
  /**
   * Whether `convertChange` gives an event's `updateDescription`, as a `Buffer`. Otherwise it is skipped by its
   * length, whatever that is. Default `false`.
   */
  updateDescription?: boolean;
  /**
   * Whether an ASCII string of 8 KiB or more, as a column of its own, stands over the memory of the source instead
   * of being copied. Such a string keeps the source's ArrayBuffer alive, and the caller promises never to write to
   * that memory again, nor to transfer or resize it, as long as the string is in use: a string that changes breaks what
   * JavaScript relies on. Memory that may be used again, such as a slice of a pooled `Buffer`, must not be given.
   * Default `false`.
   */
  zeroCopy?: boolean;
}

/** Thrown for bytes that are not the BSON they should be. A date out of range is a `RangeError` of this shape. */
export interface BsonRowError extends Error {
  /** What went wrong, for programs: `BSONROW_` and a stable word. */
  readonly code: string;
  /** Where in the source: the byte at which reading stopped. Absent where there is no such place. */
  readonly offset?: number;
  /**
   * Which element: the column, then the names and array positions below it. Empty for the document itself. Absent where
   * `offset` is.
   */
  readonly path?: readonly string[];
}

/**
 * A change event, converted in one pass. Its fields stand in the order of the event, with the values that
 * `parseChangeDocument` gives, but `fullDocument` is `row` and `fullDocumentBeforeChange` is `rowBefore`; documents
 * of fields that are not deserialised are `Buffer`s with memory of their own. Fields that a pipeline gave the names
 * `row`, `rowBefore` or `replicaId` are left out.
 */
export interface Change {
  /** The resume token. */
  // biome-ignore lint/suspicious/noExplicitAny: opaque
  _id: any;
  operationType: string;
  ns?: { db: string; coll?: string };
  to?: { db: string; coll: string };
  /** The document's `_id`, and its shard key where there is one. */
  // biome-ignore lint/suspicious/noExplicitAny: an _id can be of any BSON type
  documentKey?: { _id: any; [shardKey: string]: any };
  /**
   * The identity: `documentKey._id`, the very same value; without `documentKey` the document's own `_id`;
   * `undefined` where the event is about no document.
   */
  // biome-ignore lint/suspicious/noExplicitAny: an _id can be of any BSON type
  replicaId: any;
  /**
   * The document after the change; `null` where the event's `fullDocument` is null or absent. Of an update, that means a
   * document gone before it was looked up only where the stream was opened with `fullDocument: 'updateLookup'`. Without
   * that, updates have no such field, and the document is still there: `parseChangeDocument` tells `null` from
   * `undefined`.
   */
  row: SqliteRow | null;
  /** The document before the change, where the event has that field. */
  rowBefore?: SqliteRow | null;
  txnNumber?: bigint;
  /** The change is of one fragment of a split event: see `SplitEventMerger`. */
  splitEvent?: { fragment: number; of: number };
  /** With the option `updateDescription`. */
  updateDescription?: Buffer;
  /** `clusterTime`, `lsid`, `wallTime` and all others. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields of an event depend on its operation and the server
  [field: string]: any;
}

/** How a batch is converted. */
export interface BatchOptions {
  /**
   * What the batch holds. `'auto'`: changes where the reply has a `postBatchResumeToken`, as those of change
   * streams do, documents otherwise. Default `'auto'`.
   */
  as?: 'auto' | 'changes' | 'documents';
  /**
   * What becomes of an event or document that cannot be converted: `'throw'` throws its error, `'return'` puts it
   * in its place among the results. Either way the error has an `index`, its `offset` and `path` are those in the
   * whole source, and it has an `_id` where that can be read. A reply that is itself malformed always throws.
   * Default `'throw'`.
   */
  onError?: 'throw' | 'return';
}

/** How a batch is converted that another thread reads. */
export interface AsyncBatchOptions extends BatchOptions {
  /** Ends the conversion early: the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * The error of one event or document of a batch. That of what is no `Uint8Array` is a TypeError without `offset` and
 * `path`, and what a class of the caller's throws has of all these only `index` and `_id`.
 */
export interface BatchError extends BsonRowError {
  /** Its position in the batch, from 0. */
  readonly index: number;
  /** The identity of what could not be converted; absent where it cannot be read. */
  readonly _id?: unknown;
}

/** A document's row and identity. */
export interface IdentifiedRow {
  row: SqliteRow;
  // biome-ignore lint/suspicious/noExplicitAny: an _id can be of any BSON type
  replicaId: any;
}

/** Batch options by which an error is thrown, so that there is none among the results. */
export type Throwing<Options extends BatchOptions> = Omit<Options, 'onError'> & { onError?: 'throw' };

/**
 * A reply's cursor, converted: its fields as they stand, and its batch; `Failure` is what may stand in the place of
 * what could not be converted: `BatchError` with `onError: 'return'`.
 */
export interface ConvertedBatch<Failure extends BatchError = never> {
  /** The cursor's id; `0n` where it is exhausted. */
  id: bigint;
  /** The namespace, `database.collection`. */
  ns: string;
  /** Where a change stream can be resumed behind this batch. */
  postBatchResumeToken?: unknown;
  /** Bytes of the reply's cursor document. */
  byteLength: number;
  /** The events, in order, where the batch holds changes. */
  changes?: (Change | Failure)[];
  /** The documents, in order, otherwise. */
  documents?: (IdentifiedRow | Failure)[];
}

/** Converts documents to rows; the drop-in for the TypeScript replicator's converter. */
export declare class NativeSourceRowConverter {
  /**
   * @param context decides how dates are rendered: a compatibility context, or the mode itself
   * @throws TypeError where an argument or option is not what it should be
   */
  constructor(context: CompatibilityContext | DateRenderMode, options?: ConverterOptions);

  /**
   * One document to its row and its identity.
   *
   * `replicaId` is the document's first `_id` as `bson.deserialize(source, { useBigInt64: true })` gives it.
   * Two `_id`s that MongoDB stores as different never give the same `replicaId`: an `_id` that cannot be told from
   * another once deserialised (ill-formed UTF-8, for one) is an error.
   *
   * @throws BsonRowError for malformed BSON; `Attempt to parse document without _id` where there is none
   * @throws TypeError where `source` is not a `Uint8Array`, or is a detached one
   */
  rawToSqliteRow(source: Uint8Array): IdentifiedRow;

  /**
   * A document already deserialised to its row: what `rawToSqliteRow` gives for `bson.serialize(document)`, so it
   * has an `_id`, and what is `undefined` is left out.
   * @throws TypeError where `document` is no object; what `bson.serialize` throws; BsonRowError as `rawToSqliteRow`
   */
  documentToSqliteRow(document: object): SqliteRow;

  /**
   * One change event to its row and identity, in one pass: for `parseChangeDocument`, `rawToSqliteRow` and
   * `parseDocumentId` together.
   * @throws BsonRowError for malformed BSON
   * @throws TypeError where `event` is not a `Uint8Array`
   */
  convertChange(event: Uint8Array): Change;

  /**
   * All events or documents of a reply by one call.
   * @param cursor the raw `cursor` document of an `aggregate`, `getMore` or `find` reply, as a command with
   *   `raw: true` gives it
   * @throws BsonRowError for a malformed reply; with `onError: 'throw'`, BatchError for a malformed event
   * @throws TypeError where an argument or option is not what it should be
   */
  convertBatch(cursor: Uint8Array, options?: Throwing<BatchOptions>): ConvertedBatch;
  convertBatch(cursor: Uint8Array, options: BatchOptions): ConvertedBatch<BatchError>;

  /**
   * All documents of an array by one call: for `cursor.readBufferedDocuments()` of a cursor with `raw: true`.
   * @throws BatchError for a malformed document, with `onError: 'throw'`
   * @throws TypeError where an argument or option is not what it should be
   */
  convertDocuments(
    buffers: readonly Uint8Array[],
    options?: Throwing<Pick<BatchOptions, 'onError'>>,
  ): IdentifiedRow[];
  convertDocuments(
    buffers: readonly Uint8Array[],
    options: Pick<BatchOptions, 'onError'>,
  ): (IdentifiedRow | BatchError)[];

  /**
   * `convertBatch` with all reading on a thread of Node.js's pool (`UV_THREADPOOL_SIZE`, 4 by default): names, text and
   * JSON. The objects are made here in slices of about 3 ms, between which other events get their turn; only a single
   * text of many MiB, or a document of thousands of columns, takes longer. Several batches can be under way; those of
   * one converter are resolved in the order of the calls.
   *
   * The source is kept alive meanwhile, and must neither be written to nor transferred: another thread reads it. (Memory
   * that can be resized is copied first.)
   * What was read and not yet made takes about as much memory as the texts of the rows, 16 bytes for each other value,
   * and 100 for each row; how many batches are under way is up to the caller.
   *
   * @throws (rejects with) what `convertBatch` throws; the signal's reason
   */
  convertBatchAsync(cursor: Uint8Array, options?: Throwing<AsyncBatchOptions>): Promise<ConvertedBatch>;
  convertBatchAsync(cursor: Uint8Array, options: AsyncBatchOptions): Promise<ConvertedBatch<BatchError>>;

  /** `convertDocuments`, likewise. The call itself looks at each buffer once: some 0.1 µs a document. */
  convertDocumentsAsync(
    buffers: readonly Uint8Array[],
    options?: Throwing<Omit<AsyncBatchOptions, 'as'>>,
  ): Promise<IdentifiedRow[]>;
  convertDocumentsAsync(
    buffers: readonly Uint8Array[],
    options: Omit<AsyncBatchOptions, 'as'>,
  ): Promise<(IdentifiedRow | BatchError)[]>;

  /**
   * Documents, change events or a whole reply as one MessagePack value, without a JavaScript value of any of them.
   * Decoded, with the extensions of `messagePackExtensions`, it equals what `rawToSqliteRow`, `convertChange` or
   * `convertBatch` gives, and for an array, an array of that; docs/message-pack.md describes it byte by byte.
   * @param source one document or event, or an array of them; with `of: 'batch'`, a reply's raw `cursor` document
   * @returns a `Buffer` with an ArrayBuffer of its own
   * @throws BsonRowError for malformed BSON; BatchError for that of an array or a batch, with `onError: 'throw'`
   * @throws TypeError where an argument or option is not what it should be
   */
  toMessagePack(source: Uint8Array | readonly Uint8Array[], options?: MessagePackOptions): Buffer;
}

/** What a message is of, and how it is laid out. */
export interface MessagePackOptions extends BatchOptions {
  /** What `source` is. `as` is for a `'batch'` only. Default `'document'`. */
  of?: 'document' | 'change' | 'batch';
  /**
   * `'maps'`: every object is a map. `'table'`: lists of objects (of a single source, one of one) are arrays of
   * `MessagePackRun`s and errors, in which names stand once for all objects in turn that have the same ones;
   * `fromMessagePackTable` makes objects of them. Default `'maps'`.
   */
  layout?: 'maps' | 'table';
  /**
   * As for batches: with `'return'`, what cannot be converted is a `MessagePackError` in its place. A single source
   * always throws. Default `'throw'`.
   */
  onError?: 'throw' | 'return';
}

/** Names of an object; that of an object inside it is followed by an array of its own names. */
export type MessagePackNames = readonly (string | MessagePackNames)[];

/** Objects in turn that have the same names: of each its values, in the order of the names. */
export interface MessagePackRun {
  readonly names: MessagePackNames;
  // biome-ignore lint/suspicious/noExplicitAny: values of any kind, and arrays of those of objects inside
  readonly rows: readonly any[][];
}

/** What stands in the place of what could not be converted, with the properties of a `BatchError`. */
export interface MessagePackError {
  readonly error: {
    readonly code: string;
    readonly message: string;
    /** Absent, like `path`, where an element of an array is no `Uint8Array`. */
    readonly offset?: number;
    readonly path?: readonly string[];
    readonly index: number;
    /** Absent where it cannot be read. */
    readonly _id?: unknown;
  };
}

/** A list of objects in the layout `'table'`, as a MessagePack library decodes it. */
export type MessagePackTable = readonly (MessagePackRun | MessagePackError)[];

/** An extension type of MessagePack, and what its bytes are decoded to. */
export interface MessagePackExtension {
  readonly type: number;
  // biome-ignore lint/suspicious/noExplicitAny: values of any kind
  readonly decode: (bytes: Uint8Array) => any;
}

/**
 * The extension types of messages, to be registered with the library that decodes them: types 1 to 3 for what
 * MessagePack has no type for, and 0 and 0x42, which msgpackr knows by itself.
 */
export declare function messagePackExtensions(
  options?: Pick<ConverterOptions, 'bson'>,
): MessagePackExtension[];

/**
 * The objects of a decoded table, in order, with errors in their places.
 * @throws TypeError where `table` is no array of runs and errors, as a list in maps, or a decoded batch itself
 */
// biome-ignore lint/suspicious/noExplicitAny: rows or changes, as the message was made of
export declare function fromMessagePackTable(table: MessagePackTable): any[];

/**
 * Puts events together that the stage `$changeStreamSplitLargeEvent` has cut, fragment by fragment, as they come from
 * one change stream.
 *
 * A change with `splitEvent` has been converted from one fragment, so only some of its fields are there. Where that
 * happens, the event is taken as BSON (`bson.deserialize(cursor, { raw: true })` gives the batch of a cursor document
 * so), pushed, and converted once it is whole:
 *
 *     const whole = merger.push(event);
 *     if (whole !== null) change = converter.convertChange(whole);
 *
 * Until then the merger holds copies of the fragments of that one event; it holds no memory of the caller's, and
 * nothing between events.
 */
export declare class SplitEventMerger {
  /** Fragments that are waiting for the others of their event. A resume token is safe to keep where it is 0. */
  readonly pending: number;

  /**
   * The next event or fragment of the stream.
   * @returns `event` itself where it is whole; `null` where more of its fragments are to come; with the last of them
   *   the event in a `Buffer` of its own: without `splitEvent`, with the last fragment's resume token, all other
   *   fields in the order in which they came
   * @throws Error with the code `BSONROW_SPLIT_EVENT` for a fragment that is missing, repeated or another event's;
   *   the message says which. What was pending is forgotten then.
   * @throws BsonRowError for malformed BSON, and TypeError where `event` is not a `Uint8Array`
   */
  push<T extends Uint8Array>(event: T): T | Buffer | null;

  /** Forgets what is pending: for a stream that is opened again. */
  reset(): void;
}

/**
 * One document to its row, without identity: it needs no `_id`.
 * @throws BsonRowError for malformed BSON
 * @throws TypeError where `bytes` is not a `Uint8Array` or `mode` not a `DateRenderMode`
 */
export declare function bufferToSqlite(bytes: Uint8Array, mode: DateRenderMode): SqliteRow;

/**
 * The identity of a document: its first `_id`.
 * @returns `id`, deserialised with `{ useBigInt64: true }`, and `idBuffer`, a complete BSON document of its own
 *   memory that holds only `_id`
 * @throws BsonRowError as `rawToSqliteRow`
 */
export declare function parseDocumentId(
  bytes: Uint8Array,
  options?: Pick<ConverterOptions, 'bson'>,
  // biome-ignore lint/suspicious/noExplicitAny: an _id can be of any BSON type
): { id: any; idBuffer: Buffer };

/**
 * A change event whose documents are still BSON, as the replicator's own function leaves them: `_id`, `ns`, `to`,
 * `documentKey`, `lsid` and `splitEvent` are deserialised, and so is all that is no document; every other document
 * (`fullDocument` above all, but also `updateDescription`) is a view of the event's memory, not a copy.
 */
export interface ProjectedChangeStreamDocument {
  operationType: string;
  /** The document after the change; `null` where the event says so. */
  fullDocument?: Buffer | null;
  /** The document before the change, likewise. */
  fullDocumentBeforeChange?: Buffer | null;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of an event depend on its operation and the server
  [field: string]: any;
}

/**
 * A raw change event, with its top-level fields deserialised (`{ useBigInt64: true }`) and its documents left as
 * `Buffer`s, which share the memory of `event`.
 * @throws BsonRowError for malformed BSON
 * @throws TypeError where `event` is not a `Uint8Array`
 */
export declare function parseChangeDocument(
  event: Uint8Array,
  options?: Pick<ConverterOptions, 'bson'>,
): ProjectedChangeStreamDocument;

/** How a part of a document's JSON is extracted. */
export interface JsonExtractOptions {
  /**
   * `'json'`: its JSON text, as SQLite's `->` gives it. `'value'`: a string without its quotes and escapes, a number, a
   * `bigint` where it is an integer of 64 bits, `null` for null, and the JSON text of an object or array, as `->>` gives
   * them. Default `'json'`.
   */
  as?: 'json' | 'value';
  /** How dates in it are rendered. Default `DateRenderMode.ISO_MILLISECONDS`. */
  mode?: DateRenderMode;
}

/**
 * What SQLite's `->` or `->>` gives for the JSON text of a document, straight from its BSON: only what is found is
 * written. The JSON is what a nested document of these bytes has in a row, of which the first of equal labels counts.
 *
 * @param path as SQLite's operators take it: `$` and then `.label`, `."quoted label"`, `[0]` and, from the end of an
 *   array, `[#-1]`, one step after another; or a label by itself, or a position as an integer, negative from the end.
 *   In quotes, the escapes of JSON mean what they mean there. It is one that SQLite 3.54 takes, but must be well-formed
 *   to its end whatever is found on the way.
 * @returns `null` where nothing is at the path
 * @throws TypeError where `path` is malformed, which it quotes, or another argument is not what it should be
 * @throws BsonRowError for malformed BSON on the way and in what is extracted; nothing else is looked at
 */
export declare function jsonExtract(
  source: Uint8Array,
  path: string | number | bigint,
  options?: JsonExtractOptions & { as?: 'json' },
): string | null;
export declare function jsonExtract(
  source: Uint8Array,
  path: string | number | bigint,
  options: JsonExtractOptions,
): bigint | number | string | null;

/**
 * The mode that the service's compatibility options stand for: ISO where `timestamps_iso8601` is on (an
 * override decides, else edition 2 and later), and then whole seconds where `maxTimeValuePrecision` has no
 * sub-second digits.
 */
export declare function getDateRenderMode(context: CompatibilityContext | DateRenderMode): DateRenderMode;
