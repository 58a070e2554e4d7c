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
  /** The document that is not complete yet; until its length is known, the bytes of that. */
  #document = null;
  #held = 0;
  /** Where the next (or held) document starts. */
  #offset = 0;

  /**
   * Takes the next bytes of the stream and appends each document they complete to `documents`, as
   * `{ bytes, offset }`. A document within one chunk is a view of it; one that spans chunks is a copy.
   * @throws FramingError after the documents before the damage have been appended
   */
  push(chunk, documents) {
    let start = 0;
    if (this.#document !== null) {
      start = this.#fill(chunk, documents);
      if (this.#document !== null) return;
    }
    while (chunk.length - start >= LENGTH_BYTES) {
      const length = this.#checkLength(chunk.readInt32LE(start));
      if (length > chunk.length - start) break;
      this.#emit(chunk.subarray(start, start + length), documents);
      start += length;
    }
    if (start < chunk.length) this.#begin(chunk.subarray(start));
  }

  /** The stream is over. @throws FramingError where it ends inside a document */
  end() {
    if (this.#document === null) return;
    const isLengthKnown = this.#held >= LENGTH_BYTES;
    const needs = isLengthKnown ? `a document of ${this.#document.length} bytes` : 'a document';
    throw new FramingError(
      this.#offset,
      `the file is cut short: ${needs} begins here, and only ${this.#held} bytes are left`,
    );
  }

  /** Holds the first bytes of a document, the rest of which is still to come. */
  #begin(head) {
    const isLengthKnown = head.length >= LENGTH_BYTES;
    const size = isLengthKnown ? this.#checkLength(head.readInt32LE(0)) : LENGTH_BYTES;
    this.#document = Buffer.allocUnsafeSlow(size);
    this.#held = head.copy(this.#document);
  }

  /** Completes the held document from `chunk`; returns how many of its bytes that took. */
  #fill(chunk, documents) {
    let taken = 0;
    if (this.#held < LENGTH_BYTES) {
      taken = this.#hold(chunk, taken);
      if (this.#held < LENGTH_BYTES) return taken;
      this.#begin(this.#document);
    }
    taken += this.#hold(chunk, taken);
    if (this.#held === this.#document.length) {
      const bytes = this.#document;
      this.#document = null;
      this.#emit(bytes, documents);
    }
    return taken;
  }

  /** As many bytes of the chunk as the held document has room for. */
  #hold(chunk, start) {
    const copied = chunk.copy(this.#document, this.#held, start);
    this.#held += copied;
    return copied;
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
