// A run: documents of the inputs → changes → sink, and the account of it.
import { Applier } from './apply.mjs';
import { ISSUES } from './changes.mjs';
import { ConversionError } from './conversion-error.mjs';
import { ChangeConverter } from './convert.mjs';
import { InputError } from './errors.mjs';
import { Report } from './report.mjs';
import { Checkpoint } from './source/checkpoint.mjs';
import { detectFormat } from './source/detect.mjs';
import { readDocuments } from './source/documents.mjs';

/**
 * @typedef {object} RunOptions
 * @property {'auto' | 'events' | 'documents'} format
 * @property {string | null} namespace of plain documents (default: from the path), and of events without one
 * @property {string[]} collections which are replicated, for the name of the checkpoint
 * @property {(namespace: string) => boolean} isSelected the same as a predicate
 * @property {import('bsonrow').DateRenderMode} dateMode
 * @property {number} limit documents or events to read, `Infinity` for all
 * @property {import('./apply.mjs').BatchLimits} limits of a transaction
 * @property {'stop' | 'skip'} onError what to do about a document that cannot be converted
 * @property {import('./skip-log.mjs').SkipLog} skipLog takes note of those that are skipped
 * @property {AbortSignal} [signal] stops the run after the documents at hand
 */

export class Run {
  #sink;
  #options;
  #progress;
  #applier;
  #converter;
  #report = new Report();

  /**
   * @param {import('./sink/sink.mjs').Sink} sink
   * @param {RunOptions} options
   * @param {import('./progress.mjs').Progress} progress
   */
  constructor(sink, options, progress) {
    this.#sink = sink;
    this.#options = options;
    this.#progress = progress;
    this.#applier = new Applier(sink, options.limits);
    this.#converter = new ChangeConverter(options.dateMode, options.isSelected);
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
    try {
      for await (const documents of readDocuments(input.file, (count) => this.#progress.addBytes(count))) {
        if (documents.length > 0) file ??= await this.#begin(input, documents[0].bytes);
        for (const document of documents) {
          if (this.#isOver) return;
          this.#take(file, document);
          if (this.#applier.isFull) await this.#applier.handOver(file.checkpoint?.progress() ?? null);
        }
        this.#progress.setDocuments(this.#report.documents);
        if (this.#isOver) return;
      }
    } finally {
      await this.#applier.flush(file?.checkpoint?.progress() ?? null);
    }
  }

  /** What the first document of a file tells: the format, and for events what earlier runs have applied. */
  async #begin(input, firstDocument) {
    const { format, namespace, collections, dateMode } = this.#options;
    const isEvents = (format === 'auto' ? detectFormat(firstDocument) : format) === 'events';
    if (!isEvents)
      return { name: input.file, namespace: namespace ?? input.namespace, checkpoint: null, isEvents };
    const request = JSON.stringify({ namespace, collections, dateMode });
    const checkpoint = new Checkpoint(input.file, firstDocument, request);
    checkpoint.resume(await this.#sink.readPosition(checkpoint.source));
    return { name: input.file, namespace, checkpoint, isEvents };
  }

  #take(file, document) {
    const { bytes, offset } = document;
    if (file.checkpoint?.isApplied(document)) {
      this.#report.alreadyApplied += 1;
      return;
    }
    const change = this.#convert(file, document);
    this.#report.count(bytes.length, change);
    if (change?.issue !== undefined)
      this.#report.warn(ISSUES[change.issue], place(file, offset, change.operation));
    const { checkpoint } = file;
    if (change === null) this.#applier.touch();
    else this.#applier.add(change, bytes.length, () => checkpoint?.progressAt(document) ?? null);
    checkpoint?.advance(document);
  }

  /** @returns {import('./changes.mjs').Change | null} `null` for a document that is skipped */
  #convert(file, { bytes, offset }) {
    try {
      return file.isEvents
        ? this.#converter.fromEvent(bytes, file.namespace)
        : this.#converter.fromDocument(bytes, file.namespace);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const failure = new InputError(file.name, offset + error.offset, error.message, { cause: error });
      if (this.#options.onError === 'stop') throw failure;
      this.#report.warn('document that cannot be converted, skipped', failure.message);
      this.#options.skipLog.document({
        place: `${file.name}: byte ${failure.offset}`,
        reason: error.message,
        bytes,
      });
      return null;
    }
  }
}

const place = (file, offset, operation) => `${operation} at ${file.name}: byte ${offset}`;
