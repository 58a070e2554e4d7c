/** What is no right argument is a TypeError that names the parameter; every kind of memory is read rightly. */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import {
  bufferToSqlite,
  getDateRenderMode,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from '../index.js';
import { document, element, int, payload, string, Type, withId } from './support/bson-bytes.mjs';
import { attempt } from './support/outcome.mjs';
import { runScript } from './support/run-script.mjs';

const bson = createRequire(import.meta.url)('bson');
const converter = new NativeSourceRowConverter(0);
const SOURCE = withId(
  string('s', 'text'),
  element(Type.BINARY, 'b', payload.binary(0, [1, 2, 3])),
  element(Type.DOCUMENT, 'o', document([element(Type.NULL, 'n')])),
);
const ROW = { _id: 1n, s: 'text', b: Uint8Array.of(1, 2, 3), o: '{"n":null}' };
const EVENT = document([
  element(Type.DOCUMENT, '_id', document([string('_data', '82')])),
  string('operationType', 'insert'),
  element(Type.DOCUMENT, 'fullDocument', SOURCE),
]);

/** Every function that takes bytes, the name of that parameter, and what it gives for good bytes. */
const READERS = [
  ['rawToSqliteRow', 'source', (bytes) => converter.rawToSqliteRow(bytes), { row: ROW, replicaId: 1 }],
  ['bufferToSqlite', 'bytes', (bytes) => bufferToSqlite(bytes, 0), ROW],
  ['parseDocumentId', 'bytes', (bytes) => parseDocumentId(bytes).id, 1],
];
const ALL_READERS = [...READERS, ['parseChangeDocument', 'event', (bytes) => parseChangeDocument(bytes)]];

function expectTypeError(call, parameter, label) {
  const { value, error } = attempt(call);
  expect(value, `${label}: no error`).toBeUndefined();
  expect(error, label).toBeInstanceOf(TypeError);
  expect(error.message, label).toMatch(new RegExp(`\\b${parameter}\\b`));
}

function detached() {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
}

const NO_BYTES = {
  undefined,
  null: null,
  string: 'abc',
  number: 5,
  bigint: 5n,
  boolean: true,
  symbol: Symbol('bytes'),
  function: () => {},
  array: [5, 0, 0, 0, 0],
  object: { length: 5, 0: 5 },
  ArrayBuffer: new ArrayBuffer(5),
  SharedArrayBuffer: new SharedArrayBuffer(5),
  DataView: new DataView(new ArrayBuffer(5)),
  Int8Array: new Int8Array(5),
  Uint8ClampedArray: new Uint8ClampedArray(5),
  Uint16Array: new Uint16Array(5),
  Float32Array: new Float32Array(5),
  Float64Array: new Float64Array(5),
  BigInt64Array: new BigInt64Array(5),
  'Proxy of a Buffer': new Proxy(Buffer.alloc(5), {}),
  'object with the prototype of Uint8Array': Object.create(Uint8Array.prototype),
  'object with the prototype of Buffer': Object.create(Buffer.prototype),
};

for (const [name, parameter, read] of ALL_READERS) {
  describe(`${name}: ${parameter} is no Uint8Array`, () => {
    for (const [kind, value] of Object.entries(NO_BYTES)) {
      it(kind, () => expectTypeError(() => read(value), parameter, kind));
    }
    it('no argument at all', () => expectTypeError(() => read(), parameter, name));
    it('a detached one', () => expectTypeError(() => read(detached()), parameter, name));
  });
}

describe('mode', () => {
  const NO_MODE = [
    undefined,
    null,
    -1,
    3,
    0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 32,
    '0',
    'ISO_SECONDS',
    0n,
    {},
    [0],
    true,
  ];
  it('is 0, 1 or 2', () => {
    for (const mode of NO_MODE) expectTypeError(() => bufferToSqlite(SOURCE, mode), 'mode', String(mode));
    expectTypeError(() => bufferToSqlite(SOURCE, Symbol('mode')), 'mode', 'symbol');
    expectTypeError(() => bufferToSqlite(SOURCE), 'mode', 'missing');
    for (const mode of [0, 1, 2]) expect(bufferToSqlite(SOURCE, mode)).toStrictEqual(ROW);
  });
  it('-0 is 0', () => expect(bufferToSqlite(SOURCE, -0)).toStrictEqual(ROW));
});

describe('context', () => {
  const overrides = new Map();
  const NO_CONTEXT = {
    undefined,
    null: null,
    string: 'abc',
    'unknown mode': 3,
    'negative mode': -1,
    bigint: 1n,
    'empty object': {},
    'edition missing': { overrides },
    'edition no number': { edition: '2', overrides },
    'edition NaN': { edition: Number.NaN, overrides },
    'overrides no Map': { edition: 1, overrides: {} },
    'override no boolean': { edition: 1, overrides: new Map([[{ name: 'timestamps_iso8601' }, 'false']]) },
    'precision a number': { edition: 2, overrides, maxTimeValuePrecision: 0 },
    'precision without digits': { edition: 2, overrides, maxTimeValuePrecision: {} },
    'digits no number': { edition: 2, overrides, maxTimeValuePrecision: { subSecondDigits: '0' } },
  };
  for (const [kind, context] of Object.entries(NO_CONTEXT)) {
    it(kind, () => {
      expectTypeError(() => new NativeSourceRowConverter(context), 'context', kind);
      expectTypeError(() => getDateRenderMode(context), 'context', kind);
    });
  }
  it('is read once', () => {
    const context = { edition: 1, overrides: new Map(), maxTimeValuePrecision: null };
    const own = new NativeSourceRowConverter(context);
    context.edition = 2;
    const bytes = withId(element(Type.DATETIME, 'd', payload.datetime(0)));
    expect(own.rawToSqliteRow(bytes).row.d).toBe('1970-01-01 00:00:00.000Z');
  });
  it('may be any object of the shape', () => {
    class Context {
      #edition = 2;
      get edition() {
        return this.#edition;
      }
      overrides = new Map([[{ name: 'another_option' }, false]]);
      maxTimeValuePrecision = { subSecondDigits: 0, name: 'seconds' };
    }
    expect(getDateRenderMode(new Context())).toBe(2);
    expect(getDateRenderMode({ edition: 2, overrides })).toBe(1);
    expect(getDateRenderMode({ edition: 2 })).toBe(1);
    expect(getDateRenderMode({ edition: 2, overrides: new Map([[null, false]]) })).toBe(1);
    expect(getDateRenderMode(Object.assign(Object.create(null), { edition: 1, overrides }))).toBe(0);
  });
  it('an error of a getter comes through', () => {
    const context = {
      overrides,
      get edition() {
        throw new Error('from the getter');
      },
    };
    expect(() => getDateRenderMode(context)).toThrow('from the getter');
  });
});

describe('options', () => {
  it('may be left out, undefined or empty', () => {
    for (const options of [
      undefined,
      {},
      { strict: undefined, bson: undefined },
      { strict: false },
      { bson },
    ]) {
      expect(new NativeSourceRowConverter(0, options).rawToSqliteRow(SOURCE).row).toStrictEqual(ROW);
    }
  });
  it('are an object', () => {
    for (const options of [null, 5, 'strict', true, () => {}]) {
      expectTypeError(() => new NativeSourceRowConverter(0, options), 'options', String(options));
    }
  });
  it('strict is a boolean', () => {
    for (const strict of [null, 0, 1, 'true', {}]) {
      expectTypeError(() => new NativeSourceRowConverter(0, { strict }), 'strict', String(strict));
    }
  });
  it('bson has the parts that identities are built with', () => {
    const { Binary, ObjectId, Timestamp, UUID, deserialize, serialize } = bson;
    const classes = { Binary, ObjectId, Timestamp, UUID };
    for (const wrong of [
      null,
      5,
      'bson',
      {},
      { ObjectId },
      { ...classes, deserialize: 1, serialize },
      { ...classes, Timestamp: undefined, deserialize, serialize },
      { ...classes, ObjectId: undefined, deserialize, serialize },
    ]) {
      expectTypeError(() => new NativeSourceRowConverter(0, { bson: wrong }), 'bson', String(wrong));
    }
    const own = new NativeSourceRowConverter(0, {
      bson: { ...classes, deserialize, serialize },
    });
    expect(own.rawToSqliteRow(SOURCE).replicaId).toBe(1);
  });
  it('identities are of the classes that bson has, whatever an implementation that shares others with it had', () => {
    const [timestamp, binary, uuid] = [
      payload.timestamp(7, 1),
      payload.binary(0, [1]),
      payload.binary(
        4,
        Array.from({ length: 16 }, (_, index) => index),
      ),
    ];
    for (const [name, type, bytes] of [
      ['Timestamp', Type.TIMESTAMP, timestamp],
      ['Binary', Type.BINARY, binary],
      ['UUID', Type.BINARY, uuid],
    ]) {
      class Own extends bson[name] {}
      for (const expected of [bson[name], Own]) {
        const by = new NativeSourceRowConverter(0, { bson: { ...bson, [name]: expected } });
        const { replicaId } = by.rawToSqliteRow(document([element(type, '_id', bytes)]));
        expect(replicaId.constructor, name).toBe(expected);
      }
    }
  });
});

describe('the converter itself', () => {
  it('is made with new', () => {
    expect(() => NativeSourceRowConverter(0)).toThrow(TypeError);
  });
  it('methods need their converter', () => {
    for (const receiver of [undefined, null, {}, 5, Object.create(NativeSourceRowConverter.prototype)]) {
      expect(() => NativeSourceRowConverter.prototype.rawToSqliteRow.call(receiver, SOURCE)).toThrow(
        TypeError,
      );
    }
  });
  it('can be subclassed', () => {
    class Own extends NativeSourceRowConverter {
      rowOf(source) {
        return this.rawToSqliteRow(source).row;
      }
    }
    expect(new Own(0).rowOf(SOURCE)).toStrictEqual(ROW);
    expect(new Own(0)).toBeInstanceOf(NativeSourceRowConverter);
  });
});

describe('documentToSqliteRow: document', () => {
  it('is an object', () => {
    for (const value of [undefined, null, 5, 'abc', 5n, true, Symbol('document'), () => {}, [1]]) {
      expectTypeError(() => converter.documentToSqliteRow(value), 'document', String(value));
    }
  });
});

/** The same bytes in other memory. */
const MEMORY = {
  Buffer: () => Buffer.from(SOURCE),
  'pooled slice of a Buffer': () =>
    Buffer.concat([Buffer.alloc(3), SOURCE, Buffer.alloc(3)]).subarray(3, 3 + SOURCE.length),
  Uint8Array: () => Uint8Array.from(SOURCE),
  'Uint8Array with an offset': () => {
    const memory = new Uint8Array(SOURCE.length + 20).fill(0xee);
    memory.set(SOURCE, 7);
    return memory.subarray(7, 7 + SOURCE.length);
  },
  'subclass of Uint8Array': () => new (class Bytes extends Uint8Array {})(SOURCE),
  'Buffer over a SharedArrayBuffer': () => {
    const bytes = Buffer.from(new SharedArrayBuffer(SOURCE.length));
    bytes.set(SOURCE);
    return bytes;
  },
  'Uint8Array over a part of a SharedArrayBuffer': () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(SOURCE.length + 9), 5, SOURCE.length);
    bytes.set(SOURCE);
    return bytes;
  },
  'resizable ArrayBuffer': () => {
    const bytes = new Uint8Array(new ArrayBuffer(SOURCE.length, { maxByteLength: 4096 }));
    bytes.set(SOURCE);
    return bytes;
  },
  'resizable ArrayBuffer that has grown': () => {
    const memory = new ArrayBuffer(4, { maxByteLength: 4096 });
    const bytes = new Uint8Array(memory);
    memory.resize(SOURCE.length);
    bytes.set(SOURCE);
    return bytes;
  },
  'growable SharedArrayBuffer': () => {
    const memory = new SharedArrayBuffer(4, { maxByteLength: 4096 });
    memory.grow(SOURCE.length);
    const bytes = Buffer.from(memory);
    bytes.set(SOURCE);
    return bytes;
  },
  'WebAssembly memory': () => {
    const bytes = new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer, 11, SOURCE.length);
    bytes.set(SOURCE);
    return bytes;
  },
  'of another realm': () => {
    const { runInNewContext } = createRequire(import.meta.url)('node:vm');
    return runInNewContext('Uint8Array.from(values)', { values: [...SOURCE] });
  },
};

describe('memory of every kind', () => {
  for (const [kind, make] of Object.entries(MEMORY)) {
    it(kind, () => {
      for (const [name, , read, expected] of READERS) expect(read(make()), name).toStrictEqual(expected);
    });
  }

  it('a view that a shrunk ArrayBuffer has left out of bounds', () => {
    for (const [name, parameter, read] of ALL_READERS) {
      const memory = new ArrayBuffer(100, { maxByteLength: 100 });
      const fixed = new Uint8Array(memory, 10, 50);
      const offset = new Uint8Array(memory, 60);
      memory.resize(20);
      for (const bytes of [fixed, offset]) {
        const { value, error } = attempt(() => read(bytes));
        expect(value, name).toBeUndefined();
        // Out of bounds is like detached; a view of no bytes is an empty document.
        if (error instanceof TypeError) expect(error.message).toMatch(parameter);
        else expect(error.message).toMatch(/length/);
      }
    }
  });

  it('a tracking view of a shrunk ArrayBuffer has the bytes that are left', () => {
    const memory = new ArrayBuffer(SOURCE.length, { maxByteLength: 4096 });
    const bytes = new Uint8Array(memory);
    bytes.set(SOURCE);
    memory.resize(SOURCE.length - 1);
    expect(() => bufferToSqlite(bytes, 0)).toThrow('Invalid BSON document length');
    memory.resize(0);
    expect(() => bufferToSqlite(bytes, 0)).toThrow('Invalid BSON document length');
  });

  it('an empty Buffer', () => {
    for (const [name, , read] of READERS) {
      for (const bytes of [Buffer.alloc(0), new Uint8Array(0), new Uint8Array(new SharedArrayBuffer(0))]) {
        expect(() => read(bytes), name).toThrow('Invalid BSON document length');
      }
    }
    expect(() => parseChangeDocument(Buffer.alloc(0))).toThrow();
  });

  it('lies about length and iteration are not believed', () => {
    const bytes = Buffer.from(SOURCE);
    Object.defineProperty(bytes, 'length', { value: 1e9 });
    Object.defineProperty(bytes, 'byteLength', { value: 1e9 });
    Object.defineProperty(bytes, 'byteOffset', { value: 1e9 });
    Object.defineProperty(bytes, 'buffer', { value: new ArrayBuffer(1) });
    for (const [name, , read, expected] of READERS) expect(read(bytes), name).toStrictEqual(expected);
  });

  it('parseChangeDocument: fullDocument is a view of the same memory', () => {
    for (const memory of [new ArrayBuffer(EVENT.length + 7), new SharedArrayBuffer(EVENT.length + 7)]) {
      const bytes = new Uint8Array(memory, 5, EVENT.length);
      bytes.set(EVENT);
      const { fullDocument } = parseChangeDocument(bytes);
      expect(fullDocument.buffer).toBe(memory);
      expect(Buffer.from(fullDocument).equals(SOURCE)).toBe(true);
    }
  });
});

describe('results own their memory', () => {
  it('nothing changes with the input', () => {
    for (const make of Object.values(MEMORY)) {
      const bytes = make();
      const { row } = converter.rawToSqliteRow(bytes);
      const { idBuffer } = parseDocumentId(bytes);
      bytes.fill(0xaa);
      expect(row).toStrictEqual(ROW);
      expect(idBuffer.equals(document([int('_id', 1)]))).toBe(true);
    }
  });

  it('identities, too', () => {
    for (const id of [
      new bson.ObjectId(),
      new bson.Binary(Buffer.of(1, 2)),
      new bson.UUID(),
      'text',
      { o: new bson.ObjectId() },
    ]) {
      const bytes = Buffer.from(bson.serialize({ _id: id }));
      const { replicaId } = converter.rawToSqliteRow(bytes);
      const parsed = parseDocumentId(bytes);
      bytes.fill(0);
      for (const each of [replicaId, parsed.id]) {
        expect(bson.EJSON.stringify({ id: each })).toBe(bson.EJSON.stringify({ id }));
      }
    }
  });

  it('a blob is a plain Uint8Array of exactly its own memory', () => {
    for (const length of [0, 1, 7, 8, 64, 65, 1000, 100_000]) {
      const data = Buffer.alloc(length, 7);
      const blobs = [payload.binary(0, data), payload.legacyBinary(data)].map(
        (bytes) => bufferToSqlite(document([element(Type.BINARY, 'v', bytes)]), 0).v,
      );
      for (const blob of blobs) {
        expect(Object.getPrototypeOf(blob)).toBe(Uint8Array.prototype);
        expect(blob.byteOffset).toBe(0);
        expect(blob.buffer.byteLength).toBe(length);
        expect(blob.buffer).toBeInstanceOf(ArrayBuffer);
        expect(data.equals(blob)).toBe(true);
      }
      expect(blobs[0].buffer).not.toBe(blobs[1].buffer);
    }
  });

  it('a blob can be transferred, changed and cloned', () => {
    const { v } = bufferToSqlite(document([element(Type.BINARY, 'v', payload.binary(0, [1, 2]))]), 0);
    v[0] = 9;
    expect(structuredClone(v, { transfer: [v.buffer] })).toStrictEqual(Uint8Array.of(9, 2));
    expect(v.length).toBe(0);
  });
});

describe('rows are ordinary objects', () => {
  it('of ordinary properties', () => {
    for (const count of [0, 1, 12, 100, 300]) {
      const row = bufferToSqlite(
        document(Array.from({ length: count }, (_, index) => element(Type.NULL, `c${index}`))),
        0,
      );
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      expect(Object.isExtensible(row)).toBe(true);
      expect(Object.keys(row).length).toBe(count);
      for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(row))) {
        expect(descriptor).toEqual({ value: null, writable: true, enumerable: true, configurable: true });
      }
    }
  });

  it('of their own: a change of one is not seen in the next', () => {
    const first = bufferToSqlite(SOURCE, 0);
    first.s = 'changed';
    first.extra = 1;
    delete first.o;
    expect(bufferToSqlite(SOURCE, 0)).toStrictEqual(ROW);
  });

  it('with fast properties', () => {
    const counts = runScript(
      `
      const hasFastProperties = (object) => %HasFastProperties(object);
      const int32 = (name) => Buffer.concat([Buffer.of(0x10), Buffer.from(name + '\\0'), Buffer.of(1, 0, 0, 0)]);
      const fast = [1, 12, 100].map((count) => {
        const body = Buffer.concat([...Array(count).keys()].map((index) => int32(index ? 'c' + index : '_id')));
        const bytes = Buffer.concat([Buffer.alloc(4), body, Buffer.of(0)]);
        bytes.writeInt32LE(bytes.length);
        const converter = new addon.NativeSourceRowConverter(0);
        // Not only the first row, and not only the later ones.
        return [1, 2, 3, 100].flatMap((times) => {
          let row;
          for (let time = 0; time < times; time++) row = converter.rawToSqliteRow(bytes).row;
          return [hasFastProperties(row), hasFastProperties(addon.bufferToSqlite(bytes, 0))];
        });
      });
      report(fast);
      `,
      ['--allow-natives-syntax'],
    );
    expect(counts).toEqual(Array(3).fill(Array(8).fill(true)));
  });
});
