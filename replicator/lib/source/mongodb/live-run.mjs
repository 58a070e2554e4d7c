// A run on a live source: the snapshot of the collections, then their change stream, and the account of it.
import { NativeSourceRowConverter } from 'bsonrow';
import { SinkError } from '../../errors.mjs';
import { EventMapper } from '../../event-change.mjs';
import { BatchReader } from './batches.mjs';
import { ChangeStream } from './change-stream.mjs';
import { Position } from './position.mjs';
import { Recorder } from './recorder.mjs';
import { findCollections } from './selection.mjs';
import { currentTime, findStart } from './server.mjs';
import { Snapshot } from './snapshot.mjs';

/**
 * @typedef {object} LiveOptions
 * @property {import('./selection.mjs').Selection} selection
 * @property {'auto' | 'only' | 'never'} snapshot
 * @property {number | null} idleSeconds ends the run after so many seconds without an event; `null`: it goes on
 * @property {boolean} [fresh] drop what earlier runs have stored
 * @property {object | null} startAt operation time at which the stream begins
 * @property {string | null} namespace of events without one
 * @property {object[]} stages of the user's own
 * @property {'updateLookup' | 'required'} fullDocument
 * @property {import('bsonrow').DateRenderMode} dateMode
 * @property {(options: import('bsonrow').ConverterOptions) => import('bsonrow').NativeSourceRowConverter} [makeConverter]
 *   where rows are not to be JavaScript values: see workers/encoding-converter.mjs
 * @property {number} limit documents and events to read
 * @property {import('../../apply.mjs').BatchLimits} limits when a transaction is closed
 * @property {import('../../skip-log.mjs').SkipLog | null} skipLog
 * @property {'stop' | 'skip'} onError
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} LiveContext what the phases of a run share
 * @property {import('./connection.mjs').Connection} connection
 * @property {object} bson the driver's copy
 * @property {string} shown the address, for messages
 * @property {Recorder} recorder
 * @property {BatchReader} reader
 * @property {NativeSourceRowConverter} converter
 * @property {(cursor: Uint8Array, as: 'changes' | 'documents') => import('bsonrow').ConvertedBatch} convert
 * @property {EventMapper} mapper
 * @property {import('./progress.mjs').LiveProgress} progress
 * @property {LiveOptions} options
 */

export class LiveRun {
  /** @type {LiveContext} */
  #context;
  #converterTime = 0;
  #wallTime = 0;

  /**
   * @param {object} parts
   * @param {import('./connection.mjs').Connection} parts.connection
   * @param {object} parts.bson
   * @param {import('./address.mjs').Address} parts.address
   * @param {import('../../sink/sink.mjs').Sink} parts.sink
   * @param {import('./progress.mjs').LiveProgress} parts.progress
   * @param {LiveOptions & ConstructorParameters<typeof BatchReader>[1]} options
   */
  constructor({ connection, bson, address, sink, progress }, options) {
    const { shown } = address;
    const { makeConverter = (own) => new NativeSourceRowConverter(options.dateMode, own) } = options;
    this.#context = {
      connection,
      bson,
      shown,
      recorder: new Recorder(sink, { source: nameOf(shown, options, bson), shown }, bson, options),
      reader: new BatchReader(connection, options),
      converter: makeConverter({ bson, zeroCopy: true }),
      convert: (cursor, as) => this.#convert(cursor, as),
      mapper: new EventMapper(options.selection.isSelected),
      progress,
      options,
    };
  }

  /** Where it throws, everything read before is stored. */
  async replicate() {
    const start = performance.now();
    const { recorder, bson, progress, options } = this.#context;
    try {
      const begun = options.fresh ? await this.#beginAnew() : null;
      const text = await recorder.readPosition();
      const stored = text === null ? null : Position.parse(text, bson);
      // A snapshot alone that has come to its end is made again when it is asked for again.
      const isDone = options.snapshot === 'only' && stored?.pending.length === 0;
      recorder.position = begun ?? (stored === null || isDone ? await this.#begin() : stored);
      await this.#replicateFrom();
    } catch (error) {
      // The driver's complaints about being stopped are none of the user's.
      if (options.signal?.aborted !== true || error instanceof SinkError) throw error;
    } finally {
      progress.stop();
      this.#wallTime = performance.now() - start;
    }
  }

  /** The account so far; also of a run that failed. */
  get report() {
    const { report } = this.#context.recorder;
    report.wallTime = this.#wallTime;
    report.converterTime = this.#converterTime;
    return report;
  }

  /** The beginning of the stream is found before the first document is read: what changes meanwhile comes again. */
  async #begin() {
    const { reader, connection, shown, options } = this.#context;
    return await reader.retry(shown, async () => {
      const start = await this.#findStart();
      const pending =
        options.snapshot === 'never' ? [] : await findCollections(connection, options.selection);
      if (options.snapshot !== 'never' && pending.length === 0)
        options.onWarning(`${shown} has no collection to replicate yet`);
      return new Position({ start, pending });
    });
  }

  /** What earlier runs have stored is dropped once the server has answered, and has a stream to follow. */
  async #beginAnew() {
    const { recorder, reader, connection, shown } = this.#context;
    const position = await this.#begin();
    // Where all is named, nothing may have been asked of it yet.
    await reader.retry(shown, () => currentTime(connection));
    await recorder.reset();
    return position;
  }

  async #findStart() {
    const { connection, options } = this.#context;
    // A server alone has no change streams, but documents.
    if (options.snapshot === 'only') return {};
    if (options.startAt !== null) return { startAtOperationTime: options.startAt };
    return await findStart(connection, { ...options, splits: false });
  }

  async #replicateFrom() {
    const { recorder, options } = this.#context;
    const snapshot = new Snapshot(this.#context);
    const stream = new ChangeStream(this.#context);
    try {
      await recorder.store();
      for (let goesOn = true; goesOn && !recorder.isOver; ) {
        await snapshot.read();
        if (options.snapshot === 'only' || recorder.isOver) return;
        goesOn = await stream.follow();
      }
    } finally {
      await recorder.store();
    }
  }

  #convert(cursor, as) {
    const start = performance.now();
    try {
      return this.#context.converter.convertBatch(cursor, { as, onError: 'return' });
    } finally {
      this.#converterTime += performance.now() - start;
    }
  }
}

/** Names the source and what is asked of it: a run that asks for something else does not go on where this one ends. */
function nameOf(shown, { selection, dateMode, namespace, snapshot, stages }, { EJSON }) {
  const { namespaces, databases, watch } = selection;
  const request = {
    namespaces,
    databases,
    watch,
    dateMode,
    namespace,
    stages: EJSON.stringify(stages, { relaxed: false }),
    isOnce: snapshot === 'only',
  };
  return `live ${shown} ${JSON.stringify(request)}`;
}
