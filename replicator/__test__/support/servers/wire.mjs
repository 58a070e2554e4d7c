// The messages of MongoDB's wire protocol that a driver sends and reads: OP_MSG, and the OP_QUERY of a first hello.
import { deserialize, serialize } from 'bson';

const HEADER = 16;
const OP = { reply: 1, query: 2004, message: 2013 };

/** Cuts what a socket gives into messages. */
export class MessageReader {
  #held = Buffer.alloc(0);

  /** @yields {{ requestId: number, isQuery: boolean, command: object }} */
  *push(chunk) {
    this.#held = Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= HEADER) {
      const length = this.#held.readInt32LE(0);
      if (this.#held.length < length) return;
      const message = this.#held.subarray(0, length);
      this.#held = this.#held.subarray(length);
      yield parseMessage(message);
    }
  }
}

function parseMessage(message) {
  const requestId = message.readInt32LE(4);
  const isQuery = message.readInt32LE(12) === OP.query;
  // OP_MSG: flags and the kind of its one section. OP_QUERY: flags, a collection's name, two numbers.
  const at = isQuery ? message.indexOf(0, HEADER + 4) + 1 + 8 : HEADER + 4 + 1;
  const command = deserialize(message.subarray(at, at + message.readInt32LE(at)), { promoteValues: false });
  return { requestId, isQuery, command };
}

/** @param {Buffer[]} document the reply, as pieces of BSON */
export function encodeReply(request, document) {
  const head = request.isQuery ? Buffer.alloc(HEADER + 20) : Buffer.alloc(HEADER + 5);
  head.writeInt32LE(head.length + sizeOf(document), 0);
  head.writeInt32LE(request.requestId, 8);
  head.writeInt32LE(request.isQuery ? OP.reply : OP.message, 12);
  if (request.isQuery) head.writeInt32LE(1, HEADER + 16);
  return Buffer.concat([head, ...document]);
}

// Replies are up to 16 MiB of documents that are BSON already: they stay pieces until the message is put together.

const sizeOf = (pieces) => pieces.reduce((sum, piece) => sum + piece.length, 0);

/** Pieces of a document whose elements are these. */
function documentOf(elements) {
  const length = Buffer.alloc(4);
  length.writeInt32LE(4 + sizeOf(elements) + 1);
  return [length, ...elements, Buffer.of(0)];
}

/** An array of documents, as an element named `name`. */
export const rawArray = (name, documents) => [
  Buffer.from(`\x04${name}\0`),
  ...documentOf(documents.flatMap((document, index) => [Buffer.from(`\x03${index}\0`), document])),
];

/** A document as an element. */
export const rawElement = (name, document) => [Buffer.from(`\x03${name}\0`), ...document];

/** A document of elements that are BSON already, and behind them those of an object. */
export const rawDocument = (elements, fields) =>
  documentOf([...elements, Buffer.from(serialize(fields)).subarray(4, -1)]);
