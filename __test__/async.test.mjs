/** `convertBatchAsync` and `convertDocumentsAsync`: what they come to is what their synchronous twins do. */
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import vm from 'node:vm';
import * as bson7 from 'bson7';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter } from '../index.js';
import { document, element, int, nested, payload, string, Type } from './support/bson-bytes.mjs';
import {
  dataMissing,
  listFiles,
  readBytes,
  readJson,
  smallDocuments,
  splitDocuments,
} from './support/data.mjs';
import { dataEvents, documentWithId, eventElements, toBson } from './support/events.mjs';
import { attempt } from './support/outcome.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { expectSameOutcome } from './support/same-outcome.mjs';
import { describeUnless } from './support/skip.mjs';
import { TYPE_TABLE } from './support/type-table.mjs';

const bson6 = createRequire(import.meta.url)('bson');
const BSONS = { 'bson 6': bson6, 'bson 7': bson7 };
const converter = new NativeSourceRowConverter(1);
const ON_ERROR = ['return', 'throw'];

/** A copy in memory that can be made shorter and longer. */
function resizable(bytes) {
  const array = new Uint8Array(new ArrayBuffer(bytes.length, { maxByteLength: 2 * bytes.length }));
  array.set(bytes);
  return array;
}

const listOf = (count, make) => Array.from({ length: count }, (_, index) => make(index));

const makeDocument = (index) =>
  document([int('_id', index), string('name', `item ${index}`), nested('o', int('x', index % 7))]);
const eventOf = (bytes, key, ...others) =>
  document([
    nested('_id', string('_data', '82')),
    string('operationType', 'insert'),
    ...others,
    element(Type.DOCUMENT, 'fullDocument', bytes),
    nested('documentKey', key),
  ]);
const makeEvent = (index) => eventOf(makeDocument(index), int('_id', index));

const shared = (bytes) => {
  const array = new Uint8Array(new SharedArrayBuffer(bytes.length));
  array.set(bytes);
  return array;
};
function detach(array) {
  return structuredClone(array.buffer, { transfer: [array.buffer] });
}
function detached(bytes) {
  const array = Uint8Array.from(bytes);
  detach(array);
  return array;
}

/** The same reply with either twin. */
const sameBatch = (by, reply, options) =>
  expectSameOutcome(by.convertBatchAsync(reply, options), () => by.convertBatch(reply, options));
/** The same documents with either twin. */
const sameDocuments = (by, buffers, options) =>
  expectSameOutcome(by.convertDocumentsAsync(buffers, options), () => by.convertDocuments(buffers, options));

/** Documents as documents of an array and of a reply, and events around them. */
async function sameEverywhere(by, documents, options) {
  await sameDocuments(by, documents, options);
  await sameBatch(by, cursorReply(batchOf(documents), { name: 'firstBatch' }), options);
  const events = documents.map((bytes, index) => eventOf(bytes, int('_id', index)));
  await sameBatch(by, cursorReply(batchOf(events), { isChangeStream: true }), options);
}

describeUnless(dataMissing, 'the data', () => {
  for (const [name, bson] of Object.entries(BSONS)) {
    const by = new NativeSourceRowConverter(2, { bson, updateDescription: true });

    it(`every file of documents, with ${name}`, async () => {
      const files = listFiles('.', '.bson', '.bson.gz');
      let count = 0;
      for (const file of files) {
        const { documents } = splitDocuments(readBytes(file));
        const { value } = await sameDocuments(by, documents, { onError: 'return' });
        await sameDocuments(by, documents);
        count += value.length;
      }
      expect(count).toBeGreaterThan(10_000);
    });

    it(`every event, with ${name}`, async () => {
      const events = dataEvents().map(({ bytes }) => bytes);
      expect(events.length).toBeGreaterThan(900);
      const reply = cursorReply(batchOf(events), { isChangeStream: true });
      const { value } = await sameBatch(by, reply, { onError: 'return' });
      expect(value.changes.length).toBe(events.length);
    });

    it(`replies, with ${name}`, async () => {
      for (const file of ['getMore_reply', 'getMore_reply_empty', 'aggregate_first_reply']) {
        const reply = toBson(readJson(`events/a/${file}.json`).cursor);
        const { value } = await sameBatch(by, reply);
        expect(Array.isArray(value.changes), file).toBe(true);
      }
    });
  }

  it('small documents, strictly', async () => {
    const strict = new NativeSourceRowConverter(0, { strict: true });
    const documents = smallDocuments(4096).map(({ bytes }) => bytes);
    await sameEverywhere(strict, documents, { onError: 'return' });
  });
});

describe('generated batches', () => {
  const mixed = fc.array(fc.oneof(eventElements.map(document), documentWithId), { maxLength: 80 });
  for (const [name, bson] of Object.entries(BSONS)) {
    it(`of every type, good and bad, with ${name}`, async () => {
      const converters = [{}, { strict: true }, { zeroCopy: true, updateDescription: true }].map(
        (options, mode) => new NativeSourceRowConverter(mode, { bson, ...options }),
      );
      await fc.assert(
        fc.asyncProperty(mixed, fc.boolean(), fc.nat(2), async (sources, isChangeStream, which) => {
          const by = converters[which];
          const reply = cursorReply(batchOf(sources), { isChangeStream });
          for (const onError of ON_ERROR) {
            await sameBatch(by, reply, { onError });
            await sameDocuments(by, sources, { onError });
          }
        }),
        { numRuns: 60 },
      );
    });
  }
});

describe('what batches can hold', () => {
  for (const [name, bson] of Object.entries(BSONS)) {
    const by = new NativeSourceRowConverter(0, { bson });

    it(`every value of the type table, as a column and as _id, with ${name}`, async () => {
      const columns = TYPE_TABLE.map(({ type, payload: bytes }, index) =>
        document([int('_id', index), element(type, 'v', bytes)]),
      );
      const ids = TYPE_TABLE.map(({ type, payload: bytes }) => document([element(type, '_id', bytes)]));
      await sameEverywhere(by, columns);
      await sameEverywhere(by, ids, { onError: 'return' });
      const events = TYPE_TABLE.map(({ type, payload: bytes }) =>
        eventOf(makeDocument(1), element(type, '_id', bytes), element(type, 'other', bytes)),
      );
      await sameBatch(by, cursorReply(batchOf(events), { isChangeStream: true }), { onError: 'return' });
    });

    it(`identities that the deserialiser makes, among others, with ${name}`, async () => {
      const decimal = (index) => element(Type.DECIMAL128, '_id', Buffer.alloc(16, index));
      const reference = (index) =>
        nested('_id', string('$ref', 'items'), element(Type.OBJECT_ID, '$id', Buffer.alloc(12, index)));
      const documents = listOf(300, (index) => {
        if (index % 3 === 0) return makeDocument(index);
        return document([string('s', 'é'.repeat(index)), (index % 3 === 1 ? decimal : reference)(index)]);
      });
      const { value } = await sameDocuments(by, documents);
      expect(value[1].replicaId).toBeInstanceOf(bson.Decimal128);
      expect(value[2].replicaId).toBeInstanceOf(bson.DBRef);
      await sameEverywhere(by, documents);
    });
  }

  it('nothing', async () => {
    expect(await converter.convertDocumentsAsync([])).toEqual([]);
    for (const isChangeStream of [false, true]) {
      const { value } = await sameBatch(converter, cursorReply(batchOf([]), { isChangeStream }));
      expect(value[isChangeStream ? 'changes' : 'documents']).toEqual([]);
    }
  });

  it('names that are new in every document, and more of them than shapes are kept of', async () => {
    for (const round of ['first', 'second']) {
      await sameEverywhere(
        converter,
        listOf(1500, (index) => document([int('_id', index), int(`name ${round} ${index}`, index)])),
      );
    }
    // Each twice: worth a shape of its own, and more than all that there can be.
    const twice = listOf(5000, (index) =>
      document([int('_id', index), string(`twice ${index >> 1}`, `text ${index}`)]),
    );
    await sameEverywhere(converter, twice);
  });

  it('names that are new in every document, for which no function is compiled in small batches either', async () => {
    let made = 0;
    const documentsOfNewNames = (count) =>
      listOf(count, () => document([int('_id', 1), int(`only ${made++}`, 2)]));
    // Some at first sight are worth one: until that credit is used up.
    converter.convertDocuments(documentsOfNewNames(2000));
    const { Function: original } = globalThis;
    let compiled = 0;
    globalThis.Function = new Proxy(original, {
      construct(target, parameters) {
        compiled++;
        return Reflect.construct(target, parameters);
      },
    });
    try {
      for (let batch = 0; batch < 20; batch++) {
        const results = await converter.convertDocumentsAsync(documentsOfNewNames(10));
        expect(results.map(({ row }) => Object.keys(row)[1])).toEqual(
          listOf(10, (index) => `only ${made - 10 + index}`),
        );
      }
      expect(compiled).toBe(0);
    } finally {
      globalThis.Function = original;
    }
  });

  it('more than 400 columns, and about as many', async () => {
    const wide = [1, 390, 396, 397, 398, 399, 400, 401, 402, 1000].flatMap((columns) =>
      listOf(3, (index) =>
        document([
          int('_id', index),
          ...listOf(columns, (column) =>
            column % 2
              ? string(`c${column}`, 'é'.repeat(column))
              : element(Type.DATETIME, `c${column}`, payload.datetime(index)),
          ),
        ]),
      ),
    );
    await sameEverywhere(converter, wide);
    await sameEverywhere(
      converter,
      listOf(100, (index) => wide[index % wide.length]),
    );
  });

  it('a document of 16 MB', async () => {
    const items = listOf(280_000, (index) => [
      Type.DOCUMENT,
      document([
        int('n', index),
        string('sku', `SKU-${index} "é"`),
        element(Type.OBJECT_ID, 'o', Buffer.alloc(12, index)),
      ]),
    ]);
    const large = document([
      int('_id', 1),
      element(Type.ARRAY, 'items', payload.array(items)),
      string('s', 'end'),
    ]);
    expect(large.length).toBeGreaterThan(13 << 20);
    const { value } = await sameDocuments(converter, [makeDocument(0), large, makeDocument(2)]);
    expect(value[1].row.items.length).toBeGreaterThan(10 << 20);
    expect(value[2].row.name).toBe('item 2');
    const ofBytes = document([
      int('_id', 1),
      element(Type.BINARY, 'b', payload.binary(0, Buffer.alloc(16 << 20, 7))),
    ]);
    await sameDocuments(converter, [ofBytes, makeDocument(1)]);
  });

  const LONG = 8 << 10;
  const TEXTS = {
    'ASCII below the length that zeroCopy looks at': 'a'.repeat(LONG - 1),
    'long ASCII': 'The quick brown fox '.repeat(LONG / 16),
    'long Latin-1': `${'é'.repeat(LONG)} and ASCII`,
    'long UTF-16': '漢字 and 😀'.repeat(LONG / 4),
    'ill-formed': Buffer.concat([Buffer.alloc(LONG, 0x61), Buffer.of(0xff)]),
  };
  for (const [title, text] of Object.entries(TEXTS)) {
    it(`texts: ${title}`, async () => {
      const documents = listOf(40, (index) =>
        document([
          int('_id', index),
          string('s', text),
          nested('o', string('t', text)),
          string('u', `${index}`),
        ]),
      );
      for (const options of [{}, { zeroCopy: true }]) {
        await sameEverywhere(new NativeSourceRowConverter(1, options), documents);
      }
    });
  }

  it('bytes of a pool, of shared memory, with an offset, and of memory that can be resized', async () => {
    const text = string('long', 'x'.repeat(LONG));
    const bytes = document([int('_id', 5), text, string('s', 'é')]);
    const padded = Buffer.concat([Buffer.of(1, 2, 3), bytes, Buffer.of(4)]);
    const sources = [bytes, Uint8Array.from(bytes), shared(bytes), padded.subarray(3, -1), resizable(bytes)];
    for (const options of [{}, { zeroCopy: true }]) {
      const by = new NativeSourceRowConverter(1, options);
      const { value } = await sameDocuments(by, sources);
      for (const { row } of value) expect(row).toEqual(value[0].row);
      const reply = cursorReply(batchOf(sources), { isChangeStream: false });
      for (const source of [reply, shared(reply)]) await sameBatch(by, source);
    }
  });

  it('events whose updateDescription is wanted, and others', async () => {
    const events = listOf(100, (index) =>
      eventOf(makeDocument(index), int('_id', index), nested('updateDescription', string('s', `${index}`))),
    );
    const reply = cursorReply(batchOf(events), { isChangeStream: true });
    for (const updateDescription of [false, true]) {
      const by = new NativeSourceRowConverter(1, { updateDescription });
      const { value } = await sameBatch(by, reply);
      expect(Buffer.isBuffer(value.changes[99].updateDescription)).toBe(updateDescription);
    }
    for (const as of ['auto', 'changes', 'documents']) await sameBatch(converter, reply, { as });
  });
});

describe('errors', () => {
  const oid = element(Type.OBJECT_ID, '_id', payload.objectId('0102030405060708090a0b0c'));
  const bad = element(Type.STRING, 'v', payload.string('needle', { length: 1000 }));
  const damaged = document([oid, string('s', 'good'), nested('o', nested('p', bad))]);
  const damagedEvent = eventOf(damaged, oid);

  it('of objects at any place of a batch', async () => {
    for (const places of [[0], [1], [31], [32], [33], [0, 1, 2], [30, 31, 32, 33], [98, 99]]) {
      const documents = listOf(100, (index) => (places.includes(index) ? damaged : makeDocument(index)));
      for (const onError of ON_ERROR) {
        await sameEverywhere(converter, documents, { onError });
        const events = documents.map((_, index) =>
          places.includes(index) ? damagedEvent : makeEvent(index),
        );
        const reply = cursorReply(batchOf(events), { isChangeStream: true });
        const { value, error } = await sameBatch(converter, reply, { onError });
        const first = error ?? value.changes[places[0]];
        expect(first).toMatchObject({
          code: 'BSONROW_STRING_LENGTH',
          offset: reply.indexOf('needle') - 4,
          path: ['nextBatch', String(places[0]), 'fullDocument', 'o', 'p', 'v'],
          index: places[0],
          _id: new bson6.ObjectId('0102030405060708090a0b0c'),
        });
      }
    }
  });

  it('of elements that are no documents', async () => {
    const batch = payload.array([
      [Type.DOCUMENT, makeDocument(0)],
      [Type.DOCUMENT, makeDocument(1)],
      [Type.INT32, payload.int32(5)],
      [Type.ARRAY, payload.array([])],
      [Type.DOCUMENT, makeDocument(4)],
      [Type.NULL, ''],
    ]);
    for (const onError of ON_ERROR) {
      for (const isChangeStream of [false, true]) {
        await sameBatch(converter, cursorReply(batch, { isChangeStream }), { onError });
      }
    }
  });

  it('of what is no byte array, behind documents of values of all kinds', async () => {
    const rich = (index) =>
      document([
        int('_id', index),
        string('s', `text ${index}`),
        string('l', 'é'.repeat(2000)),
        element(Type.BINARY, 'b', payload.binary(0, [index])),
        element(Type.OBJECT_ID, 'o', Buffer.alloc(12, index)),
      ]);
    for (const other of [
      undefined,
      null,
      5,
      'abc',
      {},
      [],
      new ArrayBuffer(5),
      new Uint16Array(4),
      detached(rich(1)),
    ]) {
      for (const buffers of [
        [rich(0), rich(1), other, rich(3)],
        [other, rich(1), rich(2), other, other, rich(5)],
        [rich(0), rich(1), rich(2), other],
      ]) {
        for (const onError of ON_ERROR) await sameDocuments(converter, buffers, { onError });
      }
    }
    const holes = new Array(3);
    holes[1] = rich(1);
    await sameDocuments(converter, holes, { onError: 'return' });
    await sameDocuments(converter, Object.freeze([rich(0)]));
  });

  it('of a reply that is malformed', async () => {
    const reply = cursorReply(batchOf([makeEvent(0), makeEvent(1)]), { isChangeStream: true });
    for (let length = 0; length < reply.length; length++) {
      const cut = Buffer.from(reply.subarray(0, length));
      await sameBatch(converter, cut, { onError: 'return' });
      if (length < 5) continue;
      cut.writeInt32LE(length);
      cut[length - 1] = 0;
      await sameBatch(converter, cut, { onError: 'return' });
    }
    for (let at = 0; at < reply.length; at++) {
      for (const byte of [reply[at] ^ 1, reply[at] ^ 0x80, 0]) {
        const changed = Buffer.from(reply);
        changed[at] = byte;
        await sameBatch(converter, changed, { onError: ON_ERROR[at % 2] });
      }
    }
    await sameBatch(converter, document([]));
    await sameBatch(converter, document([string('ns', 'a.b'), nested('nextBatch')]));
  });

  it('strict ones', async () => {
    const strict = new NativeSourceRowConverter(0, { strict: true });
    const lax = document([int('_id', 5), element(Type.BOOLEAN, 'b', [7])]);
    for (const onError of ON_ERROR) {
      await sameEverywhere(strict, [makeDocument(0), lax, makeDocument(2)], { onError });
    }
  });

  it('10,000 of them, of shared memory, too', async () => {
    const reply = cursorReply(batchOf(listOf(10_000, () => damaged)));
    for (const source of [reply, shared(reply)]) {
      const { value } = await sameBatch(converter, source, { onError: 'return' });
      expect(value.documents.every((each, index) => each instanceof Error && each.index === index)).toBe(
        true,
      );
    }
  });

  it('of a cursor that is detached', async () => {
    const { error } = await sameBatch(converter, detached(cursorReply(batchOf([]))));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/\bcursor\b/);
  });
});

describe("what the caller's classes throw", () => {
  class Refused extends Error {}
  /** Refuses ObjectIds whose last byte is 7. */
  const refusing = (bson, thrown = () => new Refused('seven')) => ({
    ...bson,
    ObjectId: class ObjectId extends bson.ObjectId {
      constructor(bytes) {
        if (bytes?.[11] === 7) throw thrown();
        super(bytes);
      }
    },
  });
  const idOf = (name, index) => element(Type.OBJECT_ID, name, Buffer.alloc(12, index % 10));

  it('in the middle of a chunk: an error of the index and _id of its event, the others unharmed', async () => {
    for (const thrown of [() => new Refused('seven'), () => 'seven', () => undefined]) {
      const by = new NativeSourceRowConverter(1, { bson: refusing(bson6, thrown) });
      const events = listOf(100, (index) =>
        eventOf(makeDocument(index), int('_id', index), idOf('by', index)),
      );
      const reply = cursorReply(batchOf(events), { isChangeStream: true });
      for (const onError of ON_ERROR) {
        const { value, error } = await sameBatch(by, reply, { onError });
        expect(error ?? value.changes[7]).toMatchObject({ index: 7, _id: 7 });
        await sameDocuments(
          by,
          listOf(100, (index) => document([int('x', index), idOf('_id', index)])),
          { onError },
        );
      }
    }
  });

  it('with other events that cannot be read, and some that the deserialiser makes', async () => {
    const by = new NativeSourceRowConverter(1, { bson: refusing(bson6) });
    const events = listOf(200, (index) => {
      if (index % 11 === 3)
        return eventOf(
          document([string('s', 'no id')]),
          element(Type.DECIMAL128, '_id', Buffer.alloc(16, index)),
          idOf('by', index),
        );
      if (index % 13 === 5) return document([nested('_id', string('_data', '82')), element(0x66, 'x')]);
      return eventOf(makeDocument(index), int('_id', index), idOf('by', index));
    });
    await sameBatch(by, cursorReply(batchOf(events), { isChangeStream: true }), { onError: 'return' });
  });

  it('the deserialiser', async () => {
    const bson = {
      ...bson6,
      deserialize() {
        throw new Error('refused');
      },
    };
    const by = new NativeSourceRowConverter(0, { bson });
    const decimal = document([element(Type.DECIMAL128, '_id', Buffer.alloc(16))]);
    const documents = [makeDocument(0), decimal, makeDocument(2), decimal];
    for (const onError of ON_ERROR) {
      for (const copyOf of [(bytes) => bytes, shared]) {
        await sameDocuments(by, documents.map(copyOf), { onError });
        const { value, error } = await sameBatch(by, copyOf(cursorReply(batchOf(documents))), { onError });
        expect(error ?? value.documents[1]).toMatchObject({
          message: 'refused',
          code: 'BSONROW_DESERIALIZE',
          path: ['nextBatch', '1', '_id'],
          index: 1,
        });
      }
    }
    const token = element(Type.DECIMAL128, 'postBatchResumeToken', Buffer.alloc(16));
    const reply = document([token, element(Type.ARRAY, 'nextBatch', batchOf([]))]);
    const { error } = await sameBatch(by, reply, { onError: 'return' });
    expect(error).toMatchObject({ message: 'refused', path: ['postBatchResumeToken'] });
  });

  it('when they convert themselves', async () => {
    let by;
    const calls = [];
    const bson = {
      ...bson6,
      ObjectId: class ObjectId extends bson6.ObjectId {
        constructor(bytes) {
          super(bytes);
          if (calls.length < 5)
            calls.push([
              by.rawToSqliteRow(makeDocument(calls.length)),
              by.convertDocumentsAsync([makeDocument(9)]),
            ]);
        }
      },
    };
    by = new NativeSourceRowConverter(1, { bson });
    const documents = listOf(50, (index) => document([string('s', `text ${index}`), idOf('_id', index)]));
    const results = await by.convertDocumentsAsync(documents);
    for (const [index, { row, replicaId }] of results.entries()) {
      expect(row).toEqual({ s: `text ${index}`, _id: Buffer.alloc(12, index % 10).toString('hex') });
      expect(replicaId.toHexString()).toBe(row._id);
    }
    expect(calls.length).toBe(5);
    for (const [index, [{ row }, inner]] of calls.entries()) {
      expect(row.name).toBe(`item ${index}`);
      expect((await inner)[0].row.name).toBe('item 9');
    }
  });
});

describe('a source that is made shorter between call and result', () => {
  it('is read as it was', async () => {
    const reply = cursorReply(batchOf(listOf(1000, makeDocument)));
    const documents = listOf(1000, makeDocument);
    const [one, all] = [resizable(reply), documents.map(resizable)];
    const promises = [converter.convertBatchAsync(one), converter.convertDocumentsAsync(all)];
    for (const source of [one, ...all]) source.buffer.resize(5);
    expect(await promises[0]).toEqual(converter.convertBatch(reply));
    expect(await promises[1]).toEqual(converter.convertDocuments(documents));
  });

  it('is read as it was, whatever its class says of its memory', async () => {
    class Claiming extends Uint8Array {
      get buffer() {
        return new ArrayBuffer(0);
      }
    }
    // Its text is made of the source's memory when all is read.
    const source = document([int('_id', 1), string('long', 'x'.repeat(8 << 10))]);
    const { buffer: memory } = resizable(source);
    const promise = converter.convertDocumentsAsync([new Claiming(memory)]);
    memory.resize(5);
    expect(await promise).toEqual(converter.convertDocuments([source]));
  });
});

describe('memory that can be resized, behind what is a Uint8Array by its brand alone', () => {
  const source = document([int('_id', 1), string('long', 'x'.repeat(8 << 10))]);
  const first = document([int('_id', 0)]);
  const OtherRealm = vm.runInNewContext('Uint8Array');
  const withoutPrototype = () => Object.setPrototypeOf(Uint8Array.from(first), null);

  it.each([
    ['of another realm', () => OtherRealm.from(first)],
    ['without a prototype', withoutPrototype],
  ])('%s: is read as it was', async (_kind, make) => {
    const { buffer: memory } = resizable(source);
    const promise = converter.convertDocumentsAsync([make(), new Uint8Array(memory)]);
    memory.resize(5);
    expect(await promise).toEqual(converter.convertDocuments([first, source]));
  });

  it('which says that it cannot: likewise', async () => {
    const { buffer: memory } = resizable(source);
    Object.defineProperty(memory, 'resizable', { value: false });
    const promise = converter.convertDocumentsAsync([new Uint8Array(memory)]);
    memory.resize(5);
    expect(await promise).toEqual(converter.convertDocuments([source]));
  });
});

describe('results and signals', () => {
  const many = listOf(20_000, makeDocument);

  it('come in the order of the calls, also behind a call that was aborted', async () => {
    const controller = new AbortController();
    const order = [];
    const first = converter.convertDocumentsAsync(many).then(() => order.push('first'));
    const second = converter
      .convertDocumentsAsync([makeDocument(1)], { signal: controller.signal })
      .catch(() => order.push('aborted'));
    const third = converter.convertDocumentsAsync([makeDocument(2)]).then(() => order.push('third'));
    controller.abort();
    await Promise.all([first, second, third]);
    expect(order).toEqual(['aborted', 'first', 'third']);
  });

  it('a signal that was used before ends a later call at once', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await converter.convertDocumentsAsync([makeDocument(1)], { signal });
    const order = [];
    const aborted = converter.convertDocumentsAsync(many, { signal }).catch(() => order.push('aborted'));
    const later = converter.convertDocumentsAsync(many).then(() => order.push('later'));
    const soon = new Promise((resolve) => setImmediate(resolve)).then(() => order.push('soon'));
    controller.abort();
    await Promise.all([aborted, later, soon]);
    expect(order).toEqual(['aborted', 'soon', 'later']);
  });

  it('objects of more ObjectIds than pass beside the values', async () => {
    for (const count of [15, 16, 17, 18, 33]) {
      const ids = listOf(count, (index) =>
        element(Type.OBJECT_ID, `k${index}`, payload.objectId(index.toString(16).padStart(24, '0'))),
      );
      const events = listOf(70, (index) =>
        eventOf(makeDocument(index), Buffer.concat([int('_id', index), ...ids])),
      );
      const { value } = await sameBatch(converter, cursorReply(batchOf(events), { isChangeStream: true }));
      const { documentKey } = value.changes[69];
      expect(Object.keys(documentKey)).toHaveLength(count + 1);
      ids.forEach((_, index) => {
        expect(documentKey[`k${index}`].toHexString()).toBe(index.toString(16).padStart(24, '0'));
      });
    }
  });
});

describe('a source that has no bytes before the call', () => {
  const good = document([int('_id', 1)]);
  const make = {
    detached: () => {
      const source = resizable(good);
      structuredClone(source.buffer, { transfer: [source.buffer] });
      return source;
    },
    'out of bounds': () => {
      const memory = new ArrayBuffer(2 * good.length, { maxByteLength: 2 * good.length });
      const source = new Uint8Array(memory, good.length, good.length);
      memory.resize(good.length + 1);
      return source;
    },
  };
  const codes = { detached: 'BSONROW_INVALID_ARGUMENT', 'out of bounds': 'BSONROW_DOCUMENT_LENGTH' };

  it.each(Object.keys(make))('%s: the error of the synchronous call, in its place', async (kind) => {
    const results = await converter.convertDocumentsAsync([good, make[kind](), good], { onError: 'return' });
    expect(results).toEqual(converter.convertDocuments([good, make[kind](), good], { onError: 'return' }));
    expect(results[1]).toMatchObject({ code: codes[kind], index: 1 });
    await expect(converter.convertDocumentsAsync([good, make[kind]()])).rejects.toMatchObject({
      code: codes[kind],
      index: 1,
    });
    await expect(converter.convertBatchAsync(make[kind]())).rejects.toMatchObject({ code: codes[kind] });
  });
});

describe('a source that is detached between call and result', () => {
  const LONG = 8 << 10;
  const long = (index) => document([int('_id', index), string('s', 'x'.repeat(LONG)), string('t', 'short')]);

  it('costs no text that was copied', async () => {
    const source = Uint8Array.from(cursorReply(batchOf(listOf(10, makeDocument))));
    const expected = converter.convertBatch(source);
    const promise = converter.convertBatchAsync(source);
    const moved = detach(source);
    await expectSameOutcome(promise, () => expected);
    expect(moved.byteLength).toBe(expected.byteLength);
  });

  it('is a TypeError for each document that has a text of its memory', async () => {
    const sources = [long(0), makeDocument(1), long(2)].map((bytes) => Uint8Array.from(bytes));
    const expected = converter.convertDocuments(sources);
    const promise = converter.convertDocumentsAsync(sources, { onError: 'return' });
    const moved = sources.map(detach);
    const results = await promise;
    expect(results[1]).toEqual(expected[1]);
    for (const index of [0, 2]) {
      expect(results[index]).toBeInstanceOf(TypeError);
      expect(results[index]).toMatchObject({ code: 'BSONROW_INVALID_ARGUMENT', index });
    }
    expect(moved.length).toBe(3);
  });

  it('rejects with onError: throw, naming the parameter', async () => {
    const source = Uint8Array.from(cursorReply(batchOf([makeDocument(0), long(1)])));
    const promise = converter.convertBatchAsync(source);
    const moved = detach(source);
    await expect(promise).rejects.toMatchObject({
      constructor: TypeError,
      message: expect.stringMatching(/\bcursor\b/),
      code: 'BSONROW_INVALID_ARGUMENT',
      index: 1,
    });
    expect(moved.byteLength).toBeGreaterThan(LONG);
  });
});

describe('arguments', () => {
  const reply = cursorReply(batchOf([]));
  it('that are wrong reject with what the synchronous call throws; nothing is thrown at once', async () => {
    const CURSORS = [undefined, null, 5, 'abc', {}, [reply], new ArrayBuffer(5), new Uint16Array(8)];
    const BUFFERS = [undefined, null, 5, 'abc', {}, reply, new Set([reply]), { length: 1, 0: reply }];
    for (const cursor of CURSORS) {
      const { error } = await sameBatch(converter, cursor);
      expect(error).toBeInstanceOf(TypeError);
    }
    for (const buffers of BUFFERS) {
      const { error } = await sameDocuments(converter, buffers);
      expect(error).toBeInstanceOf(TypeError);
    }
    for (const options of [null, 5, 'throw', { onError: 'ignore' }, { onError: null }]) {
      expect((await sameBatch(converter, reply, options)).error).toBeInstanceOf(TypeError);
      expect((await sameDocuments(converter, [], options)).error).toBeInstanceOf(TypeError);
    }
    for (const as of ['', 'change', 'toString', 5, null]) {
      expect((await sameBatch(converter, reply, { as })).error).toBeInstanceOf(TypeError);
    }
    for (const signal of [null, 5, {}, new EventTarget(), new AbortController()]) {
      for (const call of [
        () => converter.convertBatchAsync(reply, { signal }),
        () => converter.convertDocumentsAsync([], { signal }),
      ]) {
        const { value, error } = attempt(call);
        expect(error).toBeUndefined();
        await expect(value).rejects.toMatchObject({
          constructor: TypeError,
          message: expect.stringMatching(/\bsignal\b/),
          code: 'BSONROW_INVALID_ARGUMENT',
        });
      }
    }
  });

  it('what an element of the array throws when it is read', async () => {
    const buffers = [makeDocument(0), makeDocument(1)];
    Object.defineProperty(buffers, 1, {
      get() {
        throw new Error('getter');
      },
    });
    await sameDocuments(converter, buffers);
  });

  it('an array that is changed after the call', async () => {
    const buffers = listOf(100, makeDocument);
    const expected = converter.convertDocuments(buffers);
    const promise = converter.convertDocumentsAsync(buffers);
    buffers.length = 0;
    await turn();
    await expectSameOutcome(promise, () => expected);
  });

  it('an array of a class whose copies the caller keeps, and changes', async () => {
    const kept = [];
    class Own extends Array {
      static get [Symbol.species]() {
        return function makeArray() {
          kept.push([]);
          return kept.at(-1);
        };
      }
      slice() {
        kept.push(this);
        return this;
      }
    }
    const buffers = Own.from(
      listOf(3, (index) => document([int('_id', index), string('s', `${'x'.repeat(16 << 10)} ${index}`)])),
    );
    const expected = converter.convertDocuments(buffers);
    const promise = converter.convertDocumentsAsync(buffers);
    for (const array of [buffers, ...kept]) array.length = 0;
    await expectSameOutcome(promise, () => expected);
  });
});
