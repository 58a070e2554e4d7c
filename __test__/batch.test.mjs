/** `convertBatch` and `convertDocuments`: each event or document as by itself, and what becomes of bad ones. */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import * as bson7 from 'bson7';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter } from '../index.js';
import { document, element, int, nested, payload, string, Type } from './support/bson-bytes.mjs';
import { dataMissing, readJson } from './support/data.mjs';
import { dataEvents, documentWithId, eventElements, toBson } from './support/events.mjs';
import { attempt, expectBsonRowError, expectRow, expectSame } from './support/outcome.mjs';
import { createRandom } from './support/random.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { describeUnless } from './support/skip.mjs';
import { timeRatio } from './support/time-ratio.mjs';

const bson6 = createRequire(import.meta.url)('bson');
const BSONS = { 'bson 6': bson6, 'bson 7': bson7 };
const random = createRandom();
const converter = new NativeSourceRowConverter(0);

const makeDocument = (index) =>
  document([int('_id', index), string('name', `item ${index}`), nested('o', int('x', index % 7))]);
const makeEvent = (index) =>
  document([
    nested('_id', string('_data', `82${index}`)),
    string('operationType', index % 3 ? 'insert' : 'update'),
    element(Type.DOCUMENT, 'fullDocument', makeDocument(index)),
    nested('documentKey', int('_id', index)),
  ]);
const listOf = (count, make) => Array.from({ length: count }, (_, index) => make(index));

/** Expects each result to be what the event or document gives by itself. */
function expectEach(results, sources, convert) {
  expect(results.length).toBe(sources.length);
  for (const [index, source] of sources.entries()) {
    const { value, error } = attempt(() => convert(source));
    if (error) expect(results[index]?.message, `index ${index}`).toBe(error.message);
    else expectRow(results[index], value, `index ${index}`);
  }
}

const asChange = (source) => converter.convertChange(source);
const asRow = (source) => converter.rawToSqliteRow(source);

describeUnless(dataMissing, 'replies of the data', () => {
  const REPLIES = {
    getMore_reply: { isChangeStream: true },
    getMore_reply_empty: { isChangeStream: true, count: 0 },
    aggregate_first_reply: { isChangeStream: true },
  };
  for (const [name, { count }] of Object.entries(REPLIES)) {
    for (const [bsonName, bson] of Object.entries(BSONS)) {
      it(`${name} with ${bsonName}`, () => {
        const reply = toBson(readJson(`events/a/${name}.json`).cursor);
        const raw = bson.deserialize(reply, { raw: true, useBigInt64: true });
        const fields = bson.deserialize(reply, { useBigInt64: true });
        const onBson = new NativeSourceRowConverter(0, { bson });
        const batch = onBson.convertBatch(reply);
        expect(batch.id).toBe(fields.id);
        expect(batch.ns).toBe(fields.ns);
        expectSame(batch.postBatchResumeToken, fields.postBatchResumeToken);
        expect(batch.byteLength).toBe(reply.length);
        expect(batch.documents).toBeUndefined();
        const events = raw.nextBatch ?? raw.firstBatch;
        if (count !== undefined) expect(events.length).toBe(count);
        expectEach(batch.changes, events, (source) => onBson.convertChange(source));
      });
    }
  }

  it('all events of the data in one reply', () => {
    const events = dataEvents().map(({ bytes }) => bytes);
    const reply = cursorReply(batchOf(events), { isChangeStream: true });
    for (const bson of Object.values(BSONS)) {
      const onBson = new NativeSourceRowConverter(2, { bson, updateDescription: true });
      const { changes } = onBson.convertBatch(reply);
      expectEach(changes, events, (source) => onBson.convertChange(source));
    }
  });
});

describe('batches of any size', () => {
  for (const count of [0, 1, 100, 10_000]) {
    it(`${count} events`, () => {
      const events = listOf(count, makeEvent);
      const reply = cursorReply(batchOf(events), { isChangeStream: true });
      const { changes, ...fields } = converter.convertBatch(reply);
      expectEach(changes, events, asChange);
      expectRow(fields, {
        id: 7n,
        ns: 'shop.items',
        postBatchResumeToken: { _data: '82FF' },
        byteLength: reply.length,
      });
    });
    it(`${count} documents`, () => {
      const documents = listOf(count, makeDocument);
      const reply = cursorReply(batchOf(documents), { name: 'firstBatch', id: 0n });
      const { documents: rows, ...fields } = converter.convertBatch(reply);
      expectEach(rows, documents, asRow);
      expectRow(fields, { id: 0n, ns: 'shop.items', byteLength: reply.length });
      expectEach(converter.convertDocuments(documents), documents, asRow);
    });
  }

  it('with documents of many columns among small ones', () => {
    const wide = document(listOf(3000, (index) => int(index === 0 ? '_id' : `c${index}`, index)));
    const documents = [makeDocument(1), makeDocument(2), wide, makeDocument(3), wide];
    expectEach(converter.convertDocuments(documents), documents, asRow);
    const reply = cursorReply(batchOf(documents));
    expectEach(converter.convertBatch(reply).documents, documents, asRow);
  });

  it('generated events and documents, good and bad', () => {
    const mixed = fc.array(fc.oneof(eventElements.map(document), documentWithId), { maxLength: 20 });
    fc.assert(
      fc.property(mixed, fc.boolean(), (sources, isChangeStream) => {
        const reply = cursorReply(batchOf(sources), { isChangeStream });
        const batch = converter.convertBatch(reply, { onError: 'return' });
        if (isChangeStream) expectEach(batch.changes, sources, asChange);
        else expectEach(batch.documents, sources, asRow);
        expectEach(converter.convertDocuments(sources, { onError: 'return' }), sources, asRow);
        for (const [index, each] of (batch.changes ?? batch.documents).entries()) {
          if (!(each instanceof Error)) continue;
          expectBsonRowError(each, reply.length);
          expect(each.index).toBe(index);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('the reply', () => {
  const events = listOf(3, makeEvent);

  it('may have its fields in any order, and others', () => {
    const reply = document([
      nested('postBatchResumeToken', string('_data', '9')),
      element(Type.BOOLEAN, 'partialResultsReturned', [1]),
      element(Type.INT64, 'id', payload.int64(2n ** 63n - 1n)),
      element(Type.TIMESTAMP, 'atClusterTime', payload.timestamp(5, 6)),
      string('ns', 'a.b.c'),
      element(Type.ARRAY, 'firstBatch', batchOf(events)),
    ]);
    const { changes, ...fields } = converter.convertBatch(reply);
    expectEach(changes, events, asChange);
    expectRow(fields, {
      postBatchResumeToken: { _data: '9' },
      partialResultsReturned: true,
      id: 2n ** 63n - 1n,
      atClusterTime: new bson6.Timestamp({ t: 5, i: 6 }),
      ns: 'a.b.c',
      byteLength: reply.length,
    });
  });

  it('tells by its resume token what it holds, unless the caller does', () => {
    for (const isChangeStream of [false, true]) {
      const reply = cursorReply(batchOf(events), { isChangeStream });
      const auto = converter.convertBatch(reply);
      expect(Object.keys(auto).at(-1)).toBe(isChangeStream ? 'changes' : 'documents');
      expectRow(converter.convertBatch(reply, { as: 'auto' }), auto);
      expectEach(converter.convertBatch(reply, { as: 'changes' }).changes, events, asChange);
      const documents = attempt(() => converter.convertBatch(reply, { as: 'documents' }));
      expectEach(documents.value.documents, events, asRow);
    }
  });

  it('gives results without its memory', () => {
    const reply = Uint8Array.from(cursorReply(batchOf(events), { isChangeStream: true }));
    const batch = converter.convertBatch(reply);
    reply.fill(0xff);
    expectEach(batch.changes, events, asChange);
    expectSame(batch.postBatchResumeToken, { _data: '82FF' });
  });

  it('may be shared memory, or a part of a larger one', () => {
    const bytes = cursorReply(batchOf(events), { isChangeStream: true });
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const part = Buffer.concat([Buffer.alloc(13, 0xff), bytes, Buffer.alloc(5, 0xff)]).subarray(
      13,
      13 + bytes.length,
    );
    for (const reply of [shared, part]) expectEach(converter.convertBatch(reply).changes, events, asChange);
  });

  it('of shared memory is read in a time that grows with its length', () => {
    const bytes = cursorReply(batchOf(listOf(20_000, makeEvent)), { isChangeStream: true });
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const convert = (reply) => () => converter.convertBatch(reply);
    // Shared memory is copied once, and not for each event.
    expect(timeRatio(convert(bytes), convert(shared))).toBeLessThan(10);
  });
});

describe('a reply that is malformed throws, whatever becomes of errors', () => {
  const reply = cursorReply(batchOf(listOf(2, makeEvent)), { isChangeStream: true });
  const BOTH = [{ onError: 'throw' }, { onError: 'return' }];

  function expectThrown(bytes, expected) {
    for (const options of BOTH) {
      const { error } = attempt(() => converter.convertBatch(bytes, options));
      expectBsonRowError(error, bytes.length);
      expect(error).toMatchObject(expected);
      expect(error.index).toBeUndefined();
    }
  }

  it('cut short at each byte', () => {
    for (let length = 0; length < reply.length; length++) {
      const cut = reply.subarray(0, length);
      expectThrown(cut, { offset: 0, path: [] });
    }
  });
  it('cut short and relabelled', () => {
    for (let length = 5; length < reply.length - 1; length++) {
      const cut = Buffer.from(reply.subarray(0, length));
      cut.writeInt32LE(length);
      cut[length - 1] = 0;
      for (const options of BOTH) {
        const { value, error } = attempt(() => converter.convertBatch(cut, options));
        if (error) expectBsonRowError(error, length);
        // Cut between two fields behind the batch, it is whole again.
        else expect(value.changes ?? value.documents, `length ${length}`).toHaveLength(2);
      }
    }
  });
  it('without a batch, or with one of another type', () => {
    const others = [element(Type.INT64, 'id', payload.int64(0)), string('ns', 'a.b')];
    expectThrown(document(others), { code: 'BSONROW_NO_BATCH', offset: 0, path: [] });
    expectThrown(document([]), { code: 'BSONROW_NO_BATCH' });
    expectThrown(document([...others, nested('nextBatch')]), { code: 'BSONROW_NO_BATCH' });
    expectThrown(document([nested('cursor', element(Type.ARRAY, 'nextBatch', batchOf([])))]), {
      code: 'BSONROW_NO_BATCH',
    });
  });
  it('with an event longer than the reply', () => {
    const long = Buffer.from(reply);
    const at = long.indexOf(makeEvent(1));
    long.writeInt32LE(long.length, at);
    expectThrown(long, { code: 'BSONROW_DOCUMENT_LENGTH', offset: at, path: ['nextBatch', '1'] });
  });
  it('with an array longer than the reply', () => {
    const long = Buffer.from(reply);
    const at = long.indexOf('nextBatch') + 'nextBatch'.length + 1;
    long.writeInt32LE(long.length, at);
    expectThrown(long, { code: 'BSONROW_DOCUMENT_LENGTH', offset: at, path: ['nextBatch'] });
  });
  it('with an element of no known type in the batch', () => {
    const batch = document([element(Type.DOCUMENT, '0', makeEvent(0)), element(0x66, '1')]);
    const bytes = cursorReply(batch);
    expectThrown(bytes, { message: 'Unsupported BSON nested type: 0x66', path: ['nextBatch', '1'] });
  });
  it('with each byte changed: an error of the right shape, or as many results as the reply has', () => {
    for (let at = 0; at < reply.length; at++) {
      for (const byte of [reply[at] ^ 1, reply[at] ^ 0x80, 0, random() & 0xff]) {
        const changed = Buffer.from(reply);
        changed[at] = byte;
        const { value, error } = attempt(() => converter.convertBatch(changed, { onError: 'return' }));
        if (error) expectBsonRowError(error, reply.length);
        else {
          for (const each of value.changes ?? value.documents) {
            if (each instanceof Error) expectBsonRowError(each, reply.length);
          }
        }
      }
    }
  });
});

describe('errors in a batch', () => {
  const bad = element(Type.STRING, 'v', payload.string('needle', { length: 1000 }));
  const oid = '0102030405060708090a0b0c';
  const id = element(Type.OBJECT_ID, '_id', payload.objectId(oid));
  const badDocument = document([id, string('s', 'good'), nested('o', bad)]);
  const badEvent = document([
    nested('_id', string('_data', '82')),
    element(Type.DOCUMENT, 'fullDocument', badDocument),
    nested('documentKey', string('region', 'eu'), id),
  ]);

  /** A batch of good ones with a bad one as number 2, its results, and what is expected of them. */
  const CASES = {
    'of events': {
      sources: [makeEvent(0), makeEvent(1), badEvent, makeEvent(3)],
      isChangeStream: true,
      path: ['nextBatch', '2', 'fullDocument', 'o', 'v'],
      convert: asChange,
    },
    'of documents': {
      sources: [makeDocument(0), makeDocument(1), badDocument, makeDocument(3)],
      isChangeStream: false,
      path: ['nextBatch', '2', 'o', 'v'],
      convert: asRow,
    },
  };
  for (const [title, { sources, isChangeStream, path, convert }] of Object.entries(CASES)) {
    const reply = cursorReply(batchOf(sources), { isChangeStream });
    const expected = {
      message: 'Invalid BSON string length',
      code: 'BSONROW_STRING_LENGTH',
      offset: reply.indexOf('needle') - 4,
      path,
      index: 2,
      _id: new bson6.ObjectId(oid),
    };
    it(`${title}: returned, the others unharmed`, () => {
      const batch = converter.convertBatch(reply, { onError: 'return' });
      const results = batch.changes ?? batch.documents;
      expectEach(results, sources, convert);
      expect(results[2]).toBeInstanceOf(Error);
      expect(results[2]).toMatchObject(expected);
      expectSame(results[2]._id, expected._id);
    });
    it(`${title}: thrown`, () => {
      for (const options of [undefined, {}, { onError: 'throw' }]) {
        const { error } = attempt(() => converter.convertBatch(reply, options));
        expect(error).toMatchObject(expected);
      }
    });
  }

  it('have the path of the array, of the item, and of the element in it', () => {
    const deep = nested(
      'a',
      nested('b', element(Type.ARRAY, 'c', document([int('0', 1), nested('1', bad)]))),
    );
    const inDocument = document([id, string('s', 'good'), deep]);
    const inEvent = document([string('note', 'good'), element(Type.DOCUMENT, 'fullDocument', inDocument)]);
    const inner = ['a', 'b', 'c', '1', 'v'];
    for (const name of ['firstBatch', 'nextBatch']) {
      for (const [isChangeStream, make, item, path, convert] of [
        [false, makeDocument, inDocument, inner, asRow],
        [true, makeEvent, inEvent, ['fullDocument', ...inner], asChange],
      ]) {
        const reply = cursorReply(batchOf([make(0), make(1), item, make(3), item]), { name, isChangeStream });
        const { error: alone } = attempt(() => convert(item));
        expect(alone.path).toEqual(path);
        const batch = converter.convertBatch(reply, { onError: 'return' });
        const results = batch.changes ?? batch.documents;
        for (const [index, start] of [
          [2, reply.indexOf(item)],
          [4, reply.lastIndexOf(item)],
        ]) {
          expect(results[index].path).toEqual([name, String(index), ...path]);
          expect(results[index].offset).toBe(start + alone.offset);
        }
        const { error } = attempt(() => converter.convertBatch(reply));
        expect(error).toMatchObject({
          index: 2,
          path: [name, '2', ...path],
          offset: reply.indexOf('needle') - 4,
        });
      }
    }
  });
  it('of an item as a whole have the path of the item', () => {
    const noId = document([string('a', 'no _id')]);
    const reply = cursorReply(batchOf([makeDocument(0), makeDocument(1), noId]));
    const [, , error] = converter.convertBatch(reply, { onError: 'return' }).documents;
    expect(error).toMatchObject({
      code: 'BSONROW_NO_ID',
      path: ['nextBatch', '2'],
      offset: reply.indexOf(noId),
    });
    const noIdEvent = document([string('note', 'x'), element(Type.DOCUMENT, 'fullDocument', noId)]);
    const events = cursorReply(batchOf([makeEvent(0), makeEvent(1), noIdEvent]), { isChangeStream: true });
    const [, , ofEvent] = converter.convertBatch(events, { onError: 'return' }).changes;
    expect(ofEvent).toMatchObject({
      code: 'BSONROW_NO_ID',
      path: ['nextBatch', '2', 'fullDocument'],
      offset: events.indexOf(noId),
    });
  });
  it('of documents by themselves have the path in the document', () => {
    const [, error] = converter.convertDocuments([makeDocument(0), badDocument], { onError: 'return' });
    expect(error).toMatchObject({ index: 1, path: ['o', 'v'], offset: badDocument.indexOf('needle') - 4 });
  });

  it('an element that is no document', () => {
    const batch = payload.array([
      [Type.DOCUMENT, makeDocument(0)],
      [Type.INT32, payload.int32(5)],
      [Type.ARRAY, payload.array([])],
      [Type.NULL, ''],
      [Type.DOCUMENT, makeDocument(4)],
    ]);
    const reply = cursorReply(batch);
    const { documents } = converter.convertBatch(reply, { onError: 'return' });
    expect(documents[0].row.name).toBe('item 0');
    expect(documents[4].row.name).toBe('item 4');
    for (const [index, type] of [
      [1, '0x10'],
      [2, '0x4'],
      [3, '0xa'],
    ]) {
      expectBsonRowError(documents[index], reply.length);
      expect(documents[index].message).toContain(type);
      expect(documents[index]).toMatchObject({ code: 'BSONROW_NOT_A_DOCUMENT', index });
      expect(documents[index].path).toEqual(['nextBatch', String(index)]);
      expect(Object.hasOwn(documents[index], '_id')).toBe(false);
    }
    expect(attempt(() => converter.convertBatch(reply)).error).toMatchObject({ index: 1 });
  });

  it('_id is absent where it cannot be read', () => {
    const sources = [
      document([string('a', 'no _id')]),
      document([bad, id]),
      document([element(Type.STRING, '_id', payload.string([0xff])), bad]),
    ];
    const { documents } = converter.convertBatch(cursorReply(batchOf(sources)), { onError: 'return' });
    for (const each of documents) {
      expect(each).toBeInstanceOf(Error);
      expect(Object.hasOwn(each, '_id')).toBe(false);
    }
  });

  it('_id is that of documentKey, not the resume token', () => {
    const noKey = document([nested('_id', string('_data', '82')), bad]);
    const { changes } = converter.convertBatch(cursorReply(batchOf([noKey]), { isChangeStream: true }), {
      onError: 'return',
    });
    expect(Object.hasOwn(changes[0], '_id')).toBe(false);
  });

  it('strict ones have their place in the whole reply', () => {
    const strict = new NativeSourceRowConverter(0, { strict: true });
    const lax = document([int('_id', 5), element(Type.BOOLEAN, 'b', [7])]);
    const reply = cursorReply(batchOf([makeDocument(0), lax]));
    const { documents } = strict.convertBatch(reply, { onError: 'return' });
    expect(documents[0].row.name).toBe('item 0');
    expect(documents[1]).toMatchObject({
      code: 'BSONROW_BOOLEAN',
      offset: reply.indexOf(lax) + lax.length - 2,
      path: ['nextBatch', '1', 'b'],
      index: 1,
      _id: 5,
    });
  });

  it('10,000 of them', () => {
    const reply = cursorReply(batchOf(listOf(10_000, () => badDocument)));
    const { documents } = converter.convertBatch(reply, { onError: 'return' });
    expect(documents.every((each, index) => each instanceof Error && each.index === index)).toBe(true);
  });

  it("what the caller's class throws: in its place, the others unharmed", () => {
    class ObjectId extends bson6.ObjectId {
      constructor(bytes) {
        if (bytes[11] % 10 === 7) throw new Error('seven');
        super(bytes);
      }
    }
    const onRefusing = new NativeSourceRowConverter(0, { bson: { ...bson6, ObjectId } });
    const oidOf = (name, index) => element(Type.OBJECT_ID, name, Buffer.alloc(12, index));
    const events = listOf(100, (index) =>
      document([oidOf('by', index), nested('documentKey', int('_id', index))]),
    );
    const reply = cursorReply(batchOf(events), { isChangeStream: true });
    const { changes } = onRefusing.convertBatch(reply, { onError: 'return' });
    expect(changes.length).toBe(100);
    for (const [index, change] of changes.entries()) {
      if (index % 10 === 7) expect(change).toMatchObject({ message: 'seven', index, _id: index });
      else expect(change).toMatchObject({ by: { id: Buffer.alloc(12, index) }, replicaId: index });
    }
    expect(attempt(() => onRefusing.convertBatch(reply)).error).toMatchObject({ message: 'seven', index: 7 });
    const documents = listOf(100, (index) => document([oidOf('_id', index), int('n', index)]));
    const results = onRefusing.convertDocuments(documents, { onError: 'return' });
    expect(results.map((each) => each.row?.n ?? each.index)).toEqual(
      listOf(100, (index) => (index % 10 === 7 ? index : BigInt(index))),
    );
  });

  it('what a deserialiser throws', () => {
    const refusing = {
      ...bson6,
      deserialize() {
        throw new Error('refused');
      },
    };
    const onRefusing = new NativeSourceRowConverter(0, { bson: refusing });
    const decimal = document([element(Type.DECIMAL128, '_id', Buffer.alloc(16))]);
    const reply = cursorReply(batchOf([makeDocument(0), decimal, makeDocument(2)]));
    const { documents } = onRefusing.convertBatch(reply, { onError: 'return' });
    expect(documents[2].row.name).toBe('item 2');
    expect(documents[1]).toMatchObject({ message: 'refused', code: 'BSONROW_DESERIALIZE', index: 1 });
    expect(documents[1].path).toEqual(['nextBatch', '1', '_id']);
    expect(attempt(() => onRefusing.convertBatch(reply)).error).toMatchObject({
      message: 'refused',
      index: 1,
    });
  });
});

describe('convertDocuments', () => {
  const documents = listOf(5, makeDocument);
  function detached() {
    const bytes = Uint8Array.from(documents[0]);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    return bytes;
  }

  it('takes all kinds of byte arrays', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(documents[1].length));
    shared.set(documents[1]);
    const padded = Buffer.concat([Buffer.of(1, 2, 3), documents[2]]).subarray(3);
    expectEach(
      converter.convertDocuments([Uint8Array.from(documents[0]), shared, padded]),
      documents.slice(0, 3),
      asRow,
    );
    expect(converter.convertDocuments([])).toEqual([]);
    expectEach(converter.convertDocuments(Object.freeze([...documents])), documents, asRow);
  });
  it('what is no byte array, a hole and a detached one are TypeErrors of their index', () => {
    for (const value of [
      undefined,
      null,
      5,
      'abc',
      {},
      [],
      new ArrayBuffer(5),
      new Uint16Array(4),
      detached(),
    ]) {
      const buffers = [documents[0], documents[1], value, documents[3]];
      const { error } = attempt(() => converter.convertDocuments(buffers));
      const results = converter.convertDocuments(buffers, { onError: 'return' });
      for (const each of [error, results[2]]) {
        expect(each).toBeInstanceOf(TypeError);
        expect(each.message).toMatch(/\bbuffers\b/);
        expect(each).toMatchObject({ code: 'BSONROW_INVALID_ARGUMENT', index: 2 });
      }
      results.splice(2, 1);
      expectEach(results, [documents[0], documents[1], documents[3]], asRow);
    }
    const holes = new Array(3);
    holes[1] = documents[1];
    const results = converter.convertDocuments(holes, { onError: 'return' });
    expect(results.map((each) => each instanceof TypeError)).toEqual([true, false, true]);
  });
  it('malformed ones have index, _id, and their place in their own source', () => {
    const bad = document([int('_id', 9), element(Type.STRING, 'v', payload.string('x', { length: 0 }))]);
    const results = converter.convertDocuments([documents[0], bad, documents[2]], { onError: 'return' });
    expect(results[1]).toMatchObject({
      message: 'Invalid BSON string length',
      offset: bad.indexOf('v\0') + 2,
      path: ['v'],
      index: 1,
      _id: 9,
    });
    expectEach([results[0], results[2]], [documents[0], documents[2]], asRow);
    const { error } = attempt(() => converter.convertDocuments([documents[0], bad]));
    expect(error).toMatchObject({ index: 1, _id: 9, path: ['v'] });
  });
  it('what an element of the array throws when it is read', () => {
    const buffers = [...documents];
    Object.defineProperty(buffers, 1, {
      get() {
        throw new Error('getter');
      },
    });
    expect(attempt(() => converter.convertDocuments(buffers)).error.message).toBe('getter');
  });
});

describe('arguments', () => {
  const reply = cursorReply(batchOf([]));
  it('that are wrong are TypeErrors that name the parameter', () => {
    const CALLS = [
      ...[undefined, null, 5, 'abc', {}, [reply], new ArrayBuffer(5)].map((value) => [
        'cursor',
        () => converter.convertBatch(value),
      ]),
      ...[undefined, null, 5, 'abc', {}, reply, new Set([reply])].map((value) => [
        'buffers',
        () => converter.convertDocuments(value),
      ]),
      ...['', 'change', 'toString', 5, null].map((as) => ['as', () => converter.convertBatch(reply, { as })]),
      ...['', 'ignore', true, null].flatMap((onError) => [
        ['onError', () => converter.convertBatch(reply, { onError })],
        ['onError', () => converter.convertDocuments([], { onError })],
      ]),
      ...[null, 5, 'throw'].flatMap((options) => [
        ['options', () => converter.convertBatch(reply, options)],
        ['options', () => converter.convertDocuments([], options)],
      ]),
    ];
    for (const [parameter, call] of CALLS) {
      const { value, error } = attempt(call);
      expect(value, `${parameter} ${call}`).toBeUndefined();
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(new RegExp(`\\b${parameter}\\b`));
    }
  });
});

describe('worker threads', () => {
  const worker = new URL('./support/batch-worker.mjs', import.meta.url);
  const events = listOf(500, makeEvent);
  const reply = cursorReply(batchOf(events), { isChangeStream: true });

  it('give the same changes, several at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise((resolve, reject) => {
            const thread = new Worker(worker, { workerData: { reply, rounds: 10 } });
            thread.once('message', resolve);
            thread.once('error', reject);
          }),
      ),
    );
    const expected = events.map(asChange);
    for (const answer of answers) {
      answer.forEach(({ row }, index) => {
        expectRow(row, expected[index].row);
      });
    }
  });

  it('can be terminated in the middle of a batch', async () => {
    for (let round = 0; round < 8; round++) {
      const thread = new Worker(worker, { workerData: { reply, rounds: 1_000_000_000 } });
      await new Promise((resolve) => thread.once('online', resolve));
      await new Promise((resolve) => setTimeout(resolve, 15 * round));
      await thread.terminate();
    }
    expect(converter.convertBatch(reply).changes).toHaveLength(500);
  });
});
