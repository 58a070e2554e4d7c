/** `toMessagePack`: decoded by two libraries, in both layouts, it equals what the JavaScript interface gives. */
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import * as bson7 from 'bson7';
import fc from 'fast-check';
import { addExtension, Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import {
  DateRenderMode,
  fromMessagePackTable,
  messagePackExtensions,
  NativeSourceRowConverter,
} from '../index.js';
import { document, element, int, nested, payload, string, Type, withId } from './support/bson-bytes.mjs';
import { dataMissing, listFiles, readBytes, splitDocuments } from './support/data.mjs';
import { dataEvents, documentWithId, eventElements } from './support/events.mjs';
import { decodersOf, expectDecoded, LAYOUTS } from './support/message-pack.mjs';
import { attempt, expectSame } from './support/outcome.mjs';
import { NAME, PLACES } from './support/places.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { describeUnless } from './support/skip.mjs';
import { TYPE_TABLE } from './support/type-table.mjs';

const bson6 = createRequire(import.meta.url)('bson');
const BSONS = { 'bson 6': bson6, 'bson 7': bson7 };
const MODES = Object.values(DateRenderMode);
const RUNS = 500;
const check = (property) => fc.assert(property, { numRuns: RUNS });

const converter = new NativeSourceRowConverter(0);
const decoders = decodersOf(bson6);

/** Both libraries' reading of a message in both layouts, as a list even of a single source. */
function* readings(source, { on = converter, bson = bson6, ...options } = {}) {
  for (const [layout, objectsOf] of Object.entries(LAYOUTS)) {
    const message = on.toMessagePack(source, { ...options, layout });
    for (const [library, decode] of Object.entries(bson === bson6 ? decoders : decodersOf(bson))) {
      const decoded = objectsOf(decode(message));
      const isList = Array.isArray(source) || options.of === 'batch' || layout === 'table';
      yield { label: `${library}, ${layout}`, decoded: isList ? decoded : [decoded] };
    }
  }
}

/** Expects the messages of sources, one by one and all together, to be what `convert` gives. */
function expectMessages(sources, convert, options, label) {
  const expected = sources.map(convert);
  for (const { label: reading, decoded } of readings(sources, options)) {
    expectDecoded(decoded, expected, `${label}, ${reading}`);
  }
  for (const [index, source] of sources.entries()) {
    for (const { label: reading, decoded } of readings(source, options)) {
      expectDecoded(decoded, [expected[index]], `${label}, number ${index}, ${reading}`);
    }
  }
}

/** Libraries rename or refuse this name in a map. */
const UNREADABLE = '__proto__';
const isReadable = (change) =>
  ![change, change.row, change.rowBefore, change.documentKey].some(
    (object) => object && Object.hasOwn(object, UNREADABLE),
  );

const asRow = (source) => converter.rawToSqliteRow(source);
const asChange = (source) => converter.convertChange(source);

describe('the type table', () => {
  for (const mode of MODES) {
    for (const [place, { bytes, row }] of Object.entries(PLACES)) {
      it(`${place}, mode ${mode}`, () => {
        const on = new NativeSourceRowConverter(mode);
        const sources = TYPE_TABLE.map(bytes);
        for (const { label, decoded } of readings(sources, { on })) {
          TYPE_TABLE.forEach((entry, index) => {
            expectDecoded(decoded[index], { row: row(entry, mode), replicaId: 1 }, `${entry.name}, ${label}`);
          });
        }
      });
    }
  }

  it('as fields of events', () => {
    for (const { name, type, payload: bytes } of TYPE_TABLE) {
      const event = document([element(type, 'other', bytes), nested('documentKey', int('_id', 1))]);
      expectSameOutcome({ of: 'change' }, event, asChange, name);
      if (!attempt(() => asChange(event)).error) expectMessages([event], asChange, { of: 'change' }, name);
    }
  });

  it('as identities', () => {
    let count = 0;
    for (const { name, type, payload: bytes } of TYPE_TABLE) {
      for (const source of [
        document([element(type, '_id', bytes)]),
        document([nested('_id', element(type, NAME, bytes))]),
      ]) {
        expectSameOutcome({}, source, asRow, name);
        if (attempt(() => asRow(source)).error) continue;
        expectMessages([source], asRow, {}, name);
        count++;
      }
    }
    expect(count).toBeGreaterThan(TYPE_TABLE.length);
  });
});

describeUnless(dataMissing, 'files of the data', () => {
  const files = listFiles('.', '.bson', '.bson.gz', '.archive');
  it('are there', () => expect(files.length).toBeGreaterThan(100));

  for (const name of files) {
    it(name, () => {
      const { documents } = splitDocuments(readBytes(name));
      const good = documents.filter((source) => !attempt(() => asRow(source)).error);
      const readable = good.filter((source) => isReadable(asRow(source)));
      const expected = readable.map(asRow);
      for (const { label, decoded } of readings(readable)) expectDecoded(decoded, expected, label);
      for (const source of documents) {
        expectSameOutcome({}, source, asRow, name);
      }
    });
  }
});

describeUnless(dataMissing, 'datasets', () => {
  it('are no larger than as msgpackr packs the same rows', () => {
    const packr = new Packr({ useRecords: false, variableMapSize: true, useBigIntExtension: true });
    // The bytes that an ObjectId has here, too.
    const unpack = (bytes) => new bson6.ObjectId(Buffer.from(bytes));
    addExtension({ Class: bson6.ObjectId, type: 1, pack: ({ id }) => id, unpack });
    const files = listFiles('datasets', '.bson', '.bson.gz');
    const lengths = files.map((name) => {
      const { documents } = splitDocuments(readBytes(name));
      const packed = packr.pack(documents.map(asRow));
      return { name, ours: converter.toMessagePack(documents).length, packed: packed.length };
    });
    expect(lengths.filter(({ ours, packed }) => ours > packed)).toEqual([]);
    // Others have texts for which msgpackr takes a longer header than they need.
    expect(lengths.filter(({ ours, packed }) => ours === packed).length).toBeGreaterThan(files.length / 2);
  });
});

describeUnless(dataMissing, 'events of the data', () => {
  for (const [bsonName, bson] of Object.entries(BSONS)) {
    it(`with ${bsonName}`, () => {
      const all = dataEvents().map(({ bytes }) => bytes);
      const events = all.filter((event) => isReadable(asChange(event)));
      expect(events.length).toBeGreaterThan(0.9 * all.length);
      for (const updateDescription of [false, true]) {
        const on = new NativeSourceRowConverter(1, { bson, updateDescription });
        const changes = events.map((event) => on.convertChange(event));
        for (const { label, decoded } of readings(events, { on, bson, of: 'change' })) {
          expectDecoded(decoded, changes, label);
        }
        const reply = cursorReply(batchOf(events), { isChangeStream: true });
        for (const { label, decoded } of readings(reply, { on, bson, of: 'batch' })) {
          expectDecoded(decoded, on.convertBatch(reply), label);
        }
      }
    });
  }
});

/**
 * Expects a message where the JavaScript interface gives an object, and otherwise its error. But where its deserialiser
 * refuses a value, there is a message that can be read: nobody has deserialised it. Nor is a document read here that has
 * a name which libraries do not take.
 */
function expectSameOutcome(options, source, convert, label) {
  const { error: expected } = attempt(() => convert(source));
  const { error, value } = attempt(() => converter.toMessagePack(source, options));
  const isLeft = expected?.code === 'BSONROW_DESERIALIZE' || source.includes(UNREADABLE);
  if (expected && isLeft) {
    if (error || source.includes(UNREADABLE)) return;
    for (const decode of Object.values(decoders)) decode(value);
    return;
  }
  if (error && !expected) throw error;
  const shown = (error) => ({ ...error, message: error?.message, class: error?.constructor });
  if (error || expected) expect(shown(error), label).toEqual(shown(expected));
}

describe('generated', () => {
  it(`documents (${RUNS} lists)`, () => {
    check(
      fc.property(fc.array(documentWithId, { maxLength: 6 }), (sources) => {
        for (const source of sources) {
          expectSameOutcome({}, source, asRow);
        }
        const good = sources.filter((source) => !attempt(() => asRow(source)).error);
        const readable = good.filter((source) => isReadable(asRow(source)));
        expectMessages(readable, asRow, {}, 'generated');
      }),
    );
  });

  it(`events (${RUNS} lists)`, () => {
    const of = 'change';
    check(
      fc.property(fc.array(eventElements.map(document), { maxLength: 6 }), (sources) => {
        for (const source of sources) {
          expectSameOutcome({ of }, source, asChange);
        }
        const good = sources.filter((source) => !attempt(() => asChange(source)).error);
        const readable = good.filter((source) => isReadable(asChange(source)));
        expectMessages(readable, asChange, { of }, 'generated');
      }),
    );
  });

  it(`documents cut and changed (${RUNS} documents)`, () => {
    check(
      fc.property(documentWithId, fc.nat(), fc.nat(255), (source, at, byte) => {
        const changed = Buffer.from(source);
        changed[at % source.length] = byte;
        for (const damaged of [changed, source.subarray(0, at % source.length)]) {
          for (const [of, convert] of Object.entries({ document: asRow, change: asChange })) {
            for (const layout of Object.keys(LAYOUTS)) {
              expectSameOutcome({ of, layout }, damaged, convert, `${of}, ${damaged.toString('hex')}`);
            }
          }
        }
      }),
    );
  });
});

describe('identities', () => {
  const oid = '0123456789abcdef01234567';
  const IDS = {
    ObjectId: [Type.OBJECT_ID, payload.objectId(oid)],
    'its digits': [Type.STRING, payload.string(oid)],
    'Int32 1': [Type.INT32, payload.int32(1)],
    'Int64 1': [Type.INT64, payload.int64(1)],
    '"1"': [Type.STRING, payload.string('1')],
    'Double 1.5': [Type.DOUBLE, payload.double(1.5)],
    'Double -0': [Type.DOUBLE, payload.double(-0)],
    true: [Type.BOOLEAN, [1]],
    null: [Type.NULL, []],
    MinKey: [Type.MIN_KEY, []],
    Decimal128: [Type.DECIMAL128, payload.document([]).subarray(0, 0)],
    Date: [Type.DATETIME, payload.datetime(1)],
    Timestamp: [Type.TIMESTAMP, payload.timestamp(0, 1)],
    Binary: [Type.BINARY, payload.binary(0, '1')],
    UUID: [Type.BINARY, payload.binary(4, 'sixteen bytes id')],
    document: [Type.DOCUMENT, document([int('a', 1)])],
    'document of Int64': [Type.DOCUMENT, document([element(Type.INT64, 'a', payload.int64(1))])],
    'document with __proto__': [Type.DOCUMENT, document([int('__proto__', 1)])],
    'document with __proto_': [Type.DOCUMENT, document([int('__proto_', 1)])],
    'DBRef-like': [Type.DOCUMENT, document([string('$ref', 'c'), int('$id', 1)])],
    array: [Type.ARRAY, payload.array([[Type.INT32, payload.int32(1)]])],
    symbol: [Type.SYMBOL, payload.string('1s')],
    regex: [Type.REGEX, payload.regex('1', 'i')],
  };
  IDS.Decimal128[1] = Buffer.concat([Buffer.of(1), Buffer.alloc(13), Buffer.of(0x40, 0x30)]);
  const sources = Object.values(IDS).map(([type, bytes]) => document([element(type, '_id', bytes)]));

  for (const [bsonName, bson] of Object.entries(BSONS)) {
    it(`are those of rawToSqliteRow with ${bsonName}, and all different`, () => {
      const on = new NativeSourceRowConverter(0, { bson });
      const expected = sources.map((source) => on.rawToSqliteRow(source).replicaId);
      for (const { label, decoded } of readings(sources, { on, bson })) {
        const ids = decoded.map(({ replicaId }) => replicaId);
        ids.forEach((id, index) => {
          expectSame(id, expected[index], `${Object.keys(IDS)[index]}, ${label}`);
          const equal = ids.filter((other) => isDeepStrictEqual(other, id));
          expect(equal.length, `${Object.keys(IDS)[index]}, ${label}`).toBe(1);
        });
      }
    });
  }

  it('have memory of their own', () => {
    const message = converter.toMessagePack(sources[0]);
    const { decode } = messagePackExtensions().find(({ type }) => type === 1);
    const bytes = message.subarray(message.length - 12);
    const id = decode(bytes);
    bytes.fill(0);
    expect(id).toEqual(new bson6.ObjectId(oid));
  });
});

describe('options of the converter', () => {
  const sources = [
    document([int('_id', 1), string('s', 'x'), nested('o', int('a', 5), nested('p', int('b', 6)))]),
    document([string('s', 'y'), int('_id', 2)]),
  ];
  const events = sources.map((source) => document([element(Type.DOCUMENT, 'fullDocument', source)]));
  const OPTIONS = {
    'columns by name': { columns: ['o', 's'] },
    'columns by path': { columns: { a: 'o.a', p: 'o.p', s: 's' } },
    lazyJson: { lazyJson: true },
    'columns and lazyJson': { columns: ['o'], lazyJson: true },
    zeroCopy: { zeroCopy: true },
  };

  for (const [name, options] of Object.entries(OPTIONS)) {
    it(name, () => {
      const on = new NativeSourceRowConverter(0, options);
      const asOn = (source) => on.rawToSqliteRow(source);
      expectMessages(sources, asOn, { on }, name);
      expectMessages(events, (event) => on.convertChange(event), { on, of: 'change' }, name);
    });
  }

  it('lazyJson: what is wrong in JSON is found when the message is written', () => {
    const bad = document([int('_id', 1), nested('o', element(0x44, 'a', []))]);
    const lazy = new NativeSourceRowConverter(0, { lazyJson: true });
    const { error } = attempt(() => lazy.toMessagePack(bad));
    expect(error).toMatchObject({ code: 'BSONROW_NESTED_TYPE', path: ['o', 'a'] });
  });
});

describe('formats', () => {
  const hex = (source, options) => converter.toMessagePack(source, options).toString('hex');
  const hexOf = (...values) => values.join('').replaceAll(' ', '');
  const text = (value) => {
    const bytes = Buffer.from(value);
    return Buffer.concat([Buffer.of(0xa0 | bytes.length), bytes]).toString('hex');
  };

  it('maps', () => {
    const source = document([
      int('_id', 1),
      string('s', 'é'),
      element(Type.DOUBLE, 'd', payload.double(0.5)),
    ]);
    const row = hexOf(
      '83',
      text('_id'),
      'd3 0000000000000001',
      text('s'),
      text('é'),
      text('d'),
      'cb 3fe0000000000000',
    );
    const object = hexOf('82', text('row'), row, text('replicaId'), '01');
    expect(hex(source)).toBe(object);
    expect(hex([source])).toBe(hexOf('91', object));
    expect(hex([])).toBe('90');
  });

  it('tables', () => {
    const source = document([int('_id', 1), element(Type.NULL, 'n')]);
    const other = document([int('_id', 2)]);
    const run = (columns, ...rows) =>
      hexOf(
        '82',
        text('names'),
        '93',
        text('row'),
        columns,
        text('replicaId'),
        text('rows'),
        `dd 0000000${rows.length}`,
        ...rows,
      );
    const first = run(
      hexOf('92', text('_id'), text('n')),
      ...Array(2).fill('92 92 d30000000000000001 c0 01'),
    );
    const second = run(hexOf('91', text('_id')), '92 91 d30000000000000002 02');
    expect(hex([source, source, other], { layout: 'table' })).toBe(hexOf('dd 00000002', first, second));
    expect(hex([], { layout: 'table' })).toBe('dd00000000');
  });

  it('is a Buffer with memory of its own', () => {
    for (const source of [[], withId(string('s', 'x'.repeat(100_000)))]) {
      const message = converter.toMessagePack(source);
      expect(Buffer.isBuffer(message)).toBe(true);
      expect(message.buffer.byteLength).toBe(message.length);
    }
  });

  it('takes all kinds of byte arrays', () => {
    const source = withId(string('s', 'x'));
    const shared = new Uint8Array(new SharedArrayBuffer(source.length));
    shared.set(source);
    for (const bytes of [source, Uint8Array.from(source), shared]) expect(hex(bytes)).toBe(hex(source));
    expect(hex([shared, source])).toBe(hex([source, source]));
    const reply = cursorReply(batchOf([source]));
    const sharedReply = new Uint8Array(new SharedArrayBuffer(reply.length));
    sharedReply.set(reply);
    expect(hex(sharedReply, { of: 'batch' })).toBe(hex(reply, { of: 'batch' }));
  });

  it('a column named __proto__ is read from a table', () => {
    const source = withId(int('__proto__', 5));
    const message = converter.toMessagePack([source], { layout: 'table' });
    for (const decode of Object.values(decoders)) {
      const [{ row }] = fromMessagePackTable(decode(message));
      expect(Object.keys(row)).toEqual(['_id', '__proto__']);
      expect(Object.getOwnPropertyDescriptor(row, '__proto__').value).toBe(5n);
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
    }
  });

  it('integers of every size', () => {
    for (let bit = 0; bit < 1023; bit++) {
      for (const number of [
        2 ** bit,
        -(2 ** bit),
        2 ** bit - 2 ** Math.max(bit - 52, 0),
        -1.5 * 2 ** (bit + 1),
      ]) {
        if (!Number.isFinite(number)) continue;
        const source = withId(element(Type.DOUBLE, 'v', payload.double(number)));
        for (const { label, decoded } of readings(source)) {
          if (decoded[0].row.v !== BigInt(number))
            expect(decoded[0].row.v, `${number}, ${label}`).toBe(BigInt(number));
        }
      }
    }
  });
});

describe('batches', () => {
  const good = (id) => document([int('_id', id), string('s', `${id}`)]);
  const bad = document([
    int('_id', 9),
    string('long', 'enough'),
    element(Type.STRING, 'v', payload.string('x', { length: 0 })),
  ]);
  const badChange = document([
    nested('documentKey', int('_id', 8)),
    element(Type.DOCUMENT, 'fullDocument', bad),
  ]);
  const asReturned = (value) => {
    if (!(value instanceof Error)) return value;
    const { code, message, offset, path, index } = value;
    const place = offset === undefined ? {} : { offset, path };
    return { error: { code, message, ...place, index, ...('_id' in value && { _id: value._id }) } };
  };

  it('of documents and changes, by what the reply is and by what is asked', () => {
    const documents = [good(1), good(2), good(3)];
    for (const isChangeStream of [false, true]) {
      const reply = cursorReply(batchOf(documents), { isChangeStream });
      for (const as of [undefined, 'auto', 'documents', 'changes']) {
        for (const { label, decoded } of readings(reply, { of: 'batch', as })) {
          expectDecoded(decoded, converter.convertBatch(reply, { as }), `${as}, ${label}`);
        }
      }
    }
  });

  it('errors stand in their places', () => {
    const batch = payload.array([
      [Type.DOCUMENT, bad],
      [Type.DOCUMENT, good(1)],
      [Type.INT32, payload.int32(5)],
      [Type.DOCUMENT, good(2)],
      [Type.DOCUMENT, good(3)],
      [Type.DOCUMENT, document([])],
    ]);
    const reply = cursorReply(batch);
    const options = { onError: 'return' };
    const { documents, ...fields } = converter.convertBatch(reply, options);
    expect(documents.filter((each) => each instanceof Error).length).toBe(3);
    for (const { label, decoded } of readings(reply, { of: 'batch', ...options })) {
      expectDecoded(decoded, { ...fields, documents: documents.map(asReturned) }, label);
    }
  });

  it('errors of changes have the identity of documentKey', () => {
    const reply = cursorReply(batchOf([badChange]), { isChangeStream: true });
    const [expected] = converter.convertBatch(reply, { onError: 'return' }).changes;
    expect(expected._id).toBe(8);
    for (const { label, decoded } of readings(reply, { of: 'batch', onError: 'return' })) {
      expectDecoded(decoded.changes, [asReturned(expected)], label);
    }
  });

  it('errors of arrays', () => {
    const sources = [good(1), bad, 'text', good(2)];
    const options = { onError: 'return' };
    const expected = converter.convertDocuments(sources, options).map(asReturned);
    // The argument has another name here.
    expected[2].error.message =
      'source must be a Buffer or Uint8Array that is not detached, or an array of such';
    for (const { label, decoded } of readings(sources, options)) expectDecoded(decoded, expected, label);
  });

  it('errors that are thrown are those of the JavaScript interface', () => {
    const reply = cursorReply(batchOf([good(1), bad]));
    const pairs = [
      [() => converter.convertBatch(reply), { source: reply, of: 'batch' }],
      [() => converter.convertDocuments([good(1), bad]), { source: [good(1), bad] }],
      [() => converter.convertBatch(document([])), { source: document([]), of: 'batch' }],
      [() => converter.rawToSqliteRow(bad), { source: bad }],
      [() => converter.rawToSqliteRow(bad), { source: bad, onError: 'return' }],
      [() => converter.convertBatch(bad), { source: bad, of: 'batch', onError: 'return' }],
    ];
    for (const [call, { source, ...options }] of pairs) {
      const { error: expected } = attempt(call);
      for (const layout of Object.keys(LAYOUTS)) {
        const { error } = attempt(() => converter.toMessagePack(source, { ...options, layout }));
        expect({ ...error, message: error.message }).toEqual({ ...expected, message: expected.message });
      }
    }
    const { error } = attempt(() => converter.toMessagePack([good(1), 5]));
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ code: 'BSONROW_INVALID_ARGUMENT', index: 1 });
  });

  it('strict ones', () => {
    const strict = new NativeSourceRowConverter(0, { strict: true });
    const lax = document([int('_id', 5), element(Type.BOOLEAN, 'b', [7])]);
    for (const [of, source] of [
      ['document', lax],
      ['change', document([element(Type.DOCUMENT, 'fullDocument', lax)])],
    ]) {
      expect(attempt(() => strict.toMessagePack(source, { of })).error.code).toBe('BSONROW_BOOLEAN');
      expect(attempt(() => converter.toMessagePack(source, { of })).error).toBeUndefined();
    }
  });
});

describe('arguments', () => {
  const source = withId();
  it('that are wrong are TypeErrors that name the parameter', () => {
    const detached = Uint8Array.from(source);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const CALLS = [
      ...[undefined, null, 5, 'abc', {}, new ArrayBuffer(5), detached, new Set([source])].map((value) => [
        'source',
        () => converter.toMessagePack(value),
      ]),
      ['source', () => converter.toMessagePack([source], { of: 'batch' })],
      ...['', 'changes', 'toString', 5, null].map((of) => [
        'of',
        () => converter.toMessagePack(source, { of }),
      ]),
      ...['', 'map', true, null].map((layout) => [
        'layout',
        () => converter.toMessagePack(source, { layout }),
      ]),
      ['as', () => converter.toMessagePack(source, { of: 'batch', as: 'change' })],
      ['as', () => converter.toMessagePack(source, { as: 'documents' })],
      ['onError', () => converter.toMessagePack(source, { onError: 'ignore' })],
      ['options', () => converter.toMessagePack(source, null)],
      ...[undefined, null, {}, new Map(), 'table', converter.convertBatch(cursorReply(batchOf([])))].map(
        (table) => ['table', () => fromMessagePackTable(table)],
      ),
      // A list in maps, and what a library makes of maps that makes no objects of them, are no tables either.
      ...[
        1,
        null,
        [],
        'row',
        { row: {}, replicaId: 1 },
        { names: ['a'] },
        { names: ['a'], rows: 1 },
        new Map([
          ['names', []],
          ['rows', []],
        ]),
      ].map((entry) => ['table', () => fromMessagePackTable([{ names: [], rows: [] }, entry])]),
      ['bson', () => messagePackExtensions({ bson: {} })],
    ];
    for (const [parameter, call] of CALLS) {
      const { value, error } = attempt(call);
      expect(value, `${parameter} ${call}`).toBeUndefined();
      expect(error, `${parameter} ${call}`).toBeInstanceOf(TypeError);
      expect(error.code).toBe('BSONROW_INVALID_ARGUMENT');
      expect(error.message).toMatch(new RegExp(`\\b${parameter}\\b`));
    }
  });

  it('an array whose elements write messages while they are read', () => {
    const sources = [source, source, withId(string('s', 'x'))];
    const expected = converter.toMessagePack(sources);
    const disturbed = [...sources];
    Object.defineProperty(disturbed, 1, {
      get() {
        expect(converter.toMessagePack(sources)).toEqual(expected);
        return source;
      },
    });
    expect(converter.toMessagePack(disturbed)).toEqual(expected);
    Object.defineProperty(disturbed, 1, {
      get() {
        throw new Error('getter');
      },
    });
    expect(attempt(() => converter.toMessagePack(disturbed)).error.message).toBe('getter');
    expect(converter.toMessagePack(sources)).toEqual(expected);
  });
});
