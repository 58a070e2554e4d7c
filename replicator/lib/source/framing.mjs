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

export class DocumentFramer {
  /** Pieces of the document that is not complete yet, and how many bytes they are. */
  #pieces = [];
  #held = 0;
  /** Length of the held document; 0 while fewer than four of its bytes are there. */
  #wanted = 0;
  /** Where the next (or held) document starts. */
  #offset = 0;

  /**
   * Takes the next bytes of the stream and appends each document they complete to `documents`, as
   * `{ bytes, offset }`. A document within one chunk is a view of it; one that spans chunks is a copy.
   * @throws FramingError after the documents before the damage have been appended
   */
  push(chunk, documents) {
    let start = 0;
    if (this.#held > 0) {
      start = this.#fill(chunk, documents);
      if (this.#held > 0) return;
    }
    while (chunk.length - start >= LENGTH_BYTES) {
      const length = this.#checkLength(chunk.readInt32LE(start));
      if (length > chunk.length - start) break;
      this.#emit(chunk.subarray(start, start + length), documents);
      start += length;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** The stream is over. @throws FramingError where it ends inside a document */
  end() {
    if (this.#held === 0) return;
    const needs = this.#wanted > 0 ? `a document of ${this.#wanted} bytes` : 'a document';
    throw new FramingError(
      this.#offset,
      `the file is cut short: ${needs} begins here, and only ${this.#held} bytes are left`,
    );
  }

  /** Completes the held document from `chunk`; returns how many of its bytes that took. */
  #fill(chunk, documents) {
    let taken = 0;
    if (this.#wanted === 0) {
      taken = Math.min(LENGTH_BYTES - this.#held, chunk.length);
      this.#hold(chunk.subarray(0, taken));
      if (this.#wanted === 0) return taken;
    }
    const rest = Math.min(this.#wanted - this.#held, chunk.length - taken);
    if (rest > 0) this.#hold(chunk.subarray(taken, taken + rest));
    if (this.#held === this.#wanted) {
      const bytes = Buffer.concat(this.#pieces, this.#held);
      this.#pieces = [];
      this.#held = 0;
      this.#wanted = 0;
      this.#emit(bytes, documents);
    }
    return taken + rest;
  }

  #hold(piece) {
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#wanted === 0 && this.#held >= LENGTH_BYTES) {
      const head = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
      this.#wanted = this.#checkLength(head.readInt32LE(0));
    }
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
    const reason =
      length === ARCHIVE_MAGIC && this.#offset === 0
        ? 'this is an archive of mongodump, which is not read: dump without --archive'
        : `Invalid BSON document length ${length}`;
    throw new FramingError(this.#offset, reason);
  }
}
