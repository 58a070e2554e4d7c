// A run: documents of the inputs → changes → sink, and the account of it.
import { NativeSourceRowConverter } from 'bsonrow';
import { Applier } from './apply.mjs';
import { ISSUES } from './changes.mjs';
import { ConversionError, describeMerged } from './conversion-error.mjs';
import { ChangeConverter } from './convert.mjs';
import { DocumentError } from './errors.mjs';
import { Report } from './report.mjs';
import { CHECKPOINT_ORDER, Checkpoint } from './source/checkpoint.mjs';
import { detectFormat } from './source/detect.mjs';
import { readDocuments } from './source/documents.mjs';
import { EventOrder } from './source/event-order.mjs';
import { Fragments } from './source/fragments.mjs';

/**
 * @typedef {object} RunOptions
 * @property {'auto' | 'events' | 'documents'} format
 * @property {string | null} namespace of plain documents (default: from the path), and of events without one
 * @property {string[]} collections which are replicated, for the name of the checkpoint
 * @property {(namespace: string) => boolean} isSelected the same as a predicate
 * @property {import('bsonrow').DateRenderMode} dateMode
 * @property {(options?: import('bsonrow').ConverterOptions) => import('bsonrow').NativeSourceRowConverter} [makeConverter]
 *   where rows are not to be JavaScript values: see workers/encoding-converter.mjs
 * @property {boolean} [fresh] drop what earlier runs have stored
 * @property {number} limit documents or events to read, `Infinity` for all
 * @property {import('./apply.mjs').BatchLimits} limits of a transaction
 * @property {'stop' | 'skip'} onError what to do about a document that cannot be converted
 * @property {import('./skip-log.mjs').SkipLog | null} skipLog takes note of those that are skipped
 * @property {AbortSignal} [signal] stops the run after the documents at hand
 */

export class Run {
  #sink;
  #options;
  #progress;
  #applier;
  #converter;
  #report = new Report();
  #order = new EventOrder();
  /** Whether what earlier runs have stored is still to be dropped. */
  #isToDrop;

  /**
   * @param {import('./sink/sink.mjs').Sink} sink
   * @param {RunOptions} options
   * @param {import('./progress.mjs').Progress} progress
   */
  constructor(sink, options, progress) {
    this.#sink = sink;
    this.#options = options;
    this.#isToDrop = options.fresh === true;
    this.#progress = progress;
    this.#applier = new Applier(sink, options.limits, (tally) => this.#report.countStored(tally));
    const { makeConverter = () => new NativeSourceRowConverter(options.dateMode) } = options;
    this.#converter = new ChangeConverter(makeConverter(), options.isSelected);
  }

  /**
   * Where it throws, everything read before is stored.
   * @param {import('./source/files.mjs').Input[]} inputs
   */
  async replicate(inputs) {
    const start = performance.now();
    try {
      for (const input of inputs) {
        if (this.#isOver) break;
        await this.#replicateFile(input);
      }
      if (this.#isToDrop)
        this.#report.warn('run with --fresh that read nothing, and so dropped nothing', inputs[0].file);
    } finally {
      this.#report.wallTime = performance.now() - start;
    }
  }

  /** The account so far; also of a run that failed. */
  get report() {
    this.#report.converterTime = this.#converter.converterTime;
    this.#report.sinkTime = this.#applier.sinkTime;
    return this.#report;
  }

  get #isOver() {
    return this.#report.documents >= this.#options.limit || this.#options.signal?.aborted === true;
  }

  async #replicateFile(input) {
    let file = null;
    let end = 0;
    try {
      for await (const documents of readDocuments(input.file, (count) => this.#progress.addBytes(count))) {
        if (documents.length > 0) file ??= await this.#begin(input, documents[0].bytes);
        for (const document of documents) {
          if (this.#isOver) return;
          this.#take(file, document);
          end = document.offset + document.bytes.length;
          if (this.#applier.isFull) await this.#applier.handOver(file.checkpoint?.progress() ?? null);
        }
        file?.checkpoint?.keep();
        this.#progress.setDocuments(this.#report.documents);
        if (this.#isOver) return;
      }
      if (file !== null) this.#end(file, end);
    } finally {
      await this.#applier.flush(file?.checkpoint?.progress() ?? null);
    }
  }

  /** An event that was split may be cut off. What was read of it is not passed: the file may grow. */
  #end(file, at) {
    const { missing } = file.fragments;
    if (missing === null) return;
    const reason = `Split event: ${missing} is missing, the file ends instead`;
    this.#fail(file, { at, reason, bytes: Buffer.alloc(0) });
  }

  /** With the first document there is something to take the place of what is dropped. */
  async #dropOnce() {
    if (!this.#isToDrop) return;
    this.#isToDrop = false;
    await this.#sink.reset();
  }

  /** What the first document of a file tells: the format, and for events what earlier runs have applied. */
  async #begin(input, firstDocument) {
    const { format, namespace, collections, dateMode } = this.#options;
    const isEvents = (format === 'auto' ? detectFormat(firstDocument) : format) === 'events';
    const fragments = new Fragments();
    await this.#dropOnce();
    if (!isEvents) {
      const ownNamespace = namespace ?? input.namespace;
      return { name: input.file, namespace: ownNamespace, checkpoint: null, fragments, isEvents };
    }
    const request = JSON.stringify({ namespace, collections, dateMode });
    const checkpoint = new Checkpoint(input.file, firstDocument, request);
    checkpoint.resume(await this.#sink.readPosition(checkpoint.source, CHECKPOINT_ORDER));
    return { name: input.file, namespace, checkpoint, fragments, isEvents };
  }

  #take(file, document) {
    if (file.checkpoint?.isApplied(document)) {
      this.#report.alreadyApplied += 1;
      return;
    }
    if (file.isEvents) {
      this.#takeEvent(file, document);
    } else {
      const { bytes } = document;
      const change = this.#attempt(file, document, bytes, () =>
        this.#converter.fromDocument(bytes, file.namespace),
      );
      this.#add(file, document, change);
    }
  }

  #takeEvent(file, document) {
    const { bytes } = document;
    const { fragments } = file;
    const fields = this.#attempt(file, document, bytes, () => this.#converter.readFields(bytes));
    if (fields === null) {
      fragments.lose();
      this.#add(file, document, null);
      return;
    }
    const { whole, problem } = fragments.take(bytes, fields.splitEvent);
    if (problem !== null) this.#fail(file, { at: document.offset, reason: problem, bytes });
    if (whole === null) {
      this.#report.countFragment(bytes.length);
      this.#applier.touch();
      if (!fragments.isWaiting) file.checkpoint.advance(document);
      return;
    }
    const change = this.#attempt(file, document, whole, () =>
      this.#converter.fromEvent(
        whole,
        whole === bytes ? fields : this.#converter.readFields(whole),
        file.namespace,
      ),
    );
    if (change !== null && this.#order.goesBack(file.name, change.namespace, fields.clusterTime))
      this.#report.warn(
        'file whose events are older than those read before',
        place(file, document.offset, change.operation),
      );
    this.#add(file, document, change, whole.length);
  }

  /**
   * A document or event is through.
   * @param {import('./changes.mjs').Change | null} change `null` where none could be made of it
   * @param {number} size of what the change was made of, if more than the document
   */
  #add(file, document, change, size = document.bytes.length) {
    const { checkpoint, fragments } = file;
    this.#report.count(document.bytes.length, change);
    if (change?.issue !== undefined)
      this.#report.warn(ISSUES[change.issue], place(file, document.offset, change.operation));
    const end = document.offset + document.bytes.length;
    if (change === null) this.#applier.touch();
    else this.#applier.add(change, size, () => checkpoint?.progressAt(end) ?? null, end);
    // To go on within a split event would be to begin with its middle.
    if (!fragments.isWaiting) checkpoint?.advance(document);
  }

  /**
   * @param {Uint8Array} source what the work reads: the document, or the event put together from fragments
   * @returns {any} what the work gives; `null` where that cannot be converted, and is skipped
   */
  #attempt(file, { bytes, offset }, source, work) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const isWhole = source === bytes;
      this.#fail(file, {
        at: isWhole ? offset + error.offset : offset,
        reason: isWhole ? error.message : describeMerged(error),
        bytes: source,
        cause: error,
      });
      return null;
    }
  }

  /** @throws DocumentError unless failures are skipped */
  #fail({ name }, { at, reason, bytes, cause }) {
    const failure = new DocumentError(name, at, reason, { cause });
    if (this.#options.onError === 'stop') throw failure;
    this.#report.leaveOut(failure.message);
    this.#options.skipLog?.document({ place: `${name}: byte ${at}`, reason, bytes });
  }
}

const place = (file, offset, operation) => `${operation} at ${file.name}: byte ${offset}`;
