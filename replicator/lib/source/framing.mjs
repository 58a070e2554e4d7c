// Cuts a stream of bytes into BSON documents by the length each one begins with.

/** mongod lets no document pass 16 MiB and no message 48 MB: a length beyond that is damage, not data. */
const MAX_DOCUMENT_LENGTH = 48 * 1024 * 1024;
const MIN_DOCUMENT_LENGTH = 5;
const LENGTH_BYTES = 4;
/** The first bytes of `mongodump --archive`, read as a document's length. */
const ARCHIVE_MAGIC = 0x8199e26d | 0;

/** Bytes that are not the documents they should be; `offset` counts from the start of the stream. */
export class FramingError extends Error {
  name = 'FramingError';

  constructor(offset, reason) {
    super(reason);
    this.offset = offset;
  }
}

/**
 * @typedef {object} RawDocument
 * @property {Buffer} bytes
 * @property {number} offset where it starts in the stream
 */

export class DocumentFramer {
  /** The document that is not complete yet, and how much of it has come; `null` between documents. */
  #document = null;
  #held = 0;
  /** The first bytes of the next document: it is begun by the next chunk, when its memory is free. */
  #head = Buffer.alloc(0);
  /** For the documents that span chunks, one after the other, and for their first bytes. */
  #memory = Buffer.alloc(0);
  #headMemory = Buffer.alloc(LENGTH_BYTES);
  /** Where the next (or held) document starts. */
  #offset = 0;

  /**
   * Takes the next bytes of the stream and appends each document they complete to `documents`. A document within one
   * chunk is a view of it; one that spans chunks stands in memory that the next call writes over. New memory for each
   * would lie about until the collector comes, and make a run take several times what it uses.
   * @param {Buffer} chunk
   * @param {RawDocument[]} documents
   * @throws FramingError after the documents before the damage have been appended
   */
  push(chunk, documents) {
    let start = this.#beginHeld(chunk);
    if (this.#document !== null) {
      start += this.#fill(chunk, start, documents);
      if (this.#document !== null) return;
    }
    if (start === chunk.length) return;
    while (chunk.length - start >= LENGTH_BYTES) {
      const length = this.#checkLength(chunk.readInt32LE(start));
      if (length > chunk.length - start) break;
      this.#emit(chunk.subarray(start, start + length), documents);
      start += length;
    }
    this.#hold(chunk.subarray(start));
  }

  /** The stream is over. @throws FramingError where it ends inside a document */
  end() {
    const held = this.#document === null ? this.#head.length : this.#held;
    if (held === 0) return;
    const length = this.#document?.length ?? lengthIn(this.#head);
    const needs = length === null ? 'a document' : `a document of ${length} bytes`;
    throw new FramingError(
      this.#offset,
      `the file is cut short: ${needs} begins here, and only ${held} bytes are left`,
    );
  }

  /** Keeps the first bytes of a document. */
  #hold(head) {
    if (this.#headMemory.length < head.length) this.#headMemory = Buffer.allocUnsafeSlow(head.length);
    head.copy(this.#headMemory);
    this.#head = this.#headMemory.subarray(0, head.length);
  }

  /** Begins the document whose first bytes are held, if any; returns how much of the chunk its length took. */
  #beginHeld(chunk) {
    const { length } = this.#head;
    if (length === 0) return 0;
    const taken = length < LENGTH_BYTES ? Math.min(LENGTH_BYTES - length, chunk.length) : 0;
    if (taken > 0) this.#hold(Buffer.concat([this.#head, chunk.subarray(0, taken)]));
    const size = lengthIn(this.#head);
    if (size === null) return taken;
    this.#checkLength(size);
    if (this.#memory.length < size) this.#memory = Buffer.allocUnsafeSlow(size + (size >> 3));
    this.#document = this.#memory.subarray(0, size);
    this.#held = this.#head.copy(this.#document);
    this.#head = this.#head.subarray(0, 0);
    return taken;
  }

  /** Completes the document from the chunk; returns how many of its bytes that took. */
  #fill(chunk, start, documents) {
    const taken = chunk.copy(this.#document, this.#held, start);
    this.#held += taken;
    if (this.#held === this.#document.length) {
      const bytes = this.#document;
      this.#document = null;
      this.#emit(bytes, documents);
    }
    return taken;
  }

  #emit(bytes, documents) {
    if (bytes[bytes.length - 1] !== 0) {
      throw new FramingError(this.#offset, 'Invalid BSON document terminator');
    }
    documents.push({ bytes, offset: this.#offset });
    this.#offset += bytes.length;
  }

  #checkLength(length) {
    if (length >= MIN_DOCUMENT_LENGTH && length <= MAX_DOCUMENT_LENGTH) return length;
    const reason = `Invalid BSON document length ${length}`;
    throw new FramingError(this.#offset, this.#offset === 0 ? reasonAtBegin(length, reason) : reason);
  }
}

/** What begins with no length that can be is more often another kind of file than a damaged one. */
function reasonAtBegin(length, reason) {
  return length === ARCHIVE_MAGIC
    ? 'this is an archive of mongodump, which is not read: dump without --archive'
    : `${reason}: is this a file of BSON?`;
}

/** The length that a document begins with; `null` where too little of it is there. */
function lengthIn(head) {
  return head.length < LENGTH_BYTES ? null : head.readInt32LE(0);
}
