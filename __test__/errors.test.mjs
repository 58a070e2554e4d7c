/** Malformed documents written by hand, each with the message, code, offset and path of its error. */
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, NativeSourceRowConverter, parseDocumentId } from '../index.js';
import { document, element, hex, int, payload, Type } from './support/bson-bytes.mjs';
import { attempt } from './support/outcome.mjs';

/** `v` as the first element: its type stands at byte 4, its value at 7. */
const VALUE_AT = 7;
/** Between the value and the document's terminator. */
const after = int('z', 9);
const oid = '0'.repeat(24);
const inner = document([int('x', 1)]);

/** Elements that are wrong by themselves: what the error says, and how far behind the value's first byte. */
const BAD_VALUES = {
  'string length 0': [Type.STRING, payload.string('ab', { length: 0 }), 'Invalid BSON string length', 0],
  'string length -1': [Type.STRING, payload.string('ab', { length: -1 }), 'Invalid BSON string length', 0],
  'string length past the end': [
    Type.STRING,
    payload.string('ab', { length: 1000 }),
    'Invalid BSON string length',
    0,
  ],
  'string length largest': [
    Type.STRING,
    payload.string('ab', { length: 0x7fffffff }),
    'Invalid BSON string length',
    0,
  ],
  'string length smallest': [
    Type.STRING,
    payload.string('ab', { length: -0x80000000 }),
    'Invalid BSON string length',
    0,
  ],
  'string length too short': [
    Type.STRING,
    payload.string('ab', { length: 2 }),
    'Invalid BSON string terminator',
    5,
  ],
  'string terminator': [
    Type.STRING,
    payload.string('ab', { terminator: 1 }),
    'Invalid BSON string terminator',
    6,
  ],
  'symbol length 0': [Type.SYMBOL, payload.string('', { length: 0 }), 'Invalid BSON string length', 0],
  'symbol terminator': [
    Type.SYMBOL,
    payload.string('', { terminator: 7 }),
    'Invalid BSON string terminator',
    4,
  ],
  'code length -1': [Type.CODE, payload.string('f', { length: -1 }), 'Invalid BSON string length', 0],
  'code terminator': [Type.CODE, payload.string('f', { terminator: 1 }), 'Invalid BSON string terminator', 5],
  'DBPointer name length 0': [
    Type.DB_POINTER,
    Buffer.concat([payload.string('a.b', { length: 0 }), hex(oid)]),
    'Invalid BSON string length',
    0,
  ],
  'DBPointer name terminator': [
    Type.DB_POINTER,
    Buffer.concat([payload.string('a.b', { terminator: 1 }), hex(oid)]),
    'Invalid BSON string terminator',
    7,
  ],
  'binary length -1': [
    Type.BINARY,
    payload.binary(0, 'abc', { length: -1 }),
    'Invalid BSON binary length',
    0,
  ],
  'binary length past the end': [
    Type.BINARY,
    payload.binary(0, 'abc', { length: 99 }),
    'Invalid BSON binary length',
    0,
  ],
  'UUID length past the end': [
    Type.BINARY,
    payload.binary(4, Buffer.alloc(16), { length: 0x7fffffff }),
    'Invalid BSON binary length',
    0,
  ],
  'subtype 2, no room for the inner length': [
    Type.BINARY,
    payload.binary(2, 'abc'),
    'Invalid BSON legacy binary length',
    5,
  ],
  'subtype 2, inner length -1': [
    Type.BINARY,
    payload.legacyBinary('abc', { innerLength: -1 }),
    'Invalid BSON legacy binary length',
    5,
  ],
  'subtype 2, inner length too long': [
    Type.BINARY,
    payload.legacyBinary('abc', { innerLength: 4 }),
    'Invalid BSON legacy binary length',
    5,
  ],
  'document length 0': [Type.DOCUMENT, document([], { length: 0 }), 'Invalid BSON document length', 0],
  'document length 4': [Type.DOCUMENT, document([], { length: 4 }), 'Invalid BSON document length', 0],
  'document length -1': [Type.DOCUMENT, document([], { length: -1 }), 'Invalid BSON document length', 0],
  'document length past the end': [
    Type.DOCUMENT,
    document([], { length: 1000 }),
    'Invalid BSON document length',
    0,
  ],
  'document terminator': [
    Type.DOCUMENT,
    document([], { terminator: 1 }),
    'Invalid BSON document terminator',
    4,
  ],
  'array length 4': [Type.ARRAY, document([], { length: 4 }), 'Invalid BSON document length', 0],
  'array terminator': [Type.ARRAY, document([], { terminator: 0xff }), 'Invalid BSON document terminator', 4],
  'code with scope length 0': [
    Type.CODE_WITH_SCOPE,
    payload.codeWithScope('f', inner, { length: 0 }),
    'Invalid BSON code with scope length',
    0,
  ],
  'code with scope length past the end': [
    Type.CODE_WITH_SCOPE,
    payload.codeWithScope('f', inner, { length: 1000 }),
    'Invalid BSON code with scope length',
    0,
  ],
  'code with scope length one too long': [
    Type.CODE_WITH_SCOPE,
    payload.codeWithScope('f', inner, { length: 4 + 6 + 12 + 1 }),
    'Invalid BSON code with scope length',
    0,
  ],
  'code with scope, code length 0': [
    Type.CODE_WITH_SCOPE,
    Buffer.concat([payload.int32(22), payload.string('f', { length: 0 }), inner]),
    'Invalid BSON string length',
    4,
  ],
};

/** The same, inside documents whose path is told. */
const PLACES = {
  column: { wrap: (bad) => document([bad, after]), offset: VALUE_AT, path: ['v'] },
  'in an object': {
    wrap: (bad) => document([element(Type.DOCUMENT, 'o', document([after, bad])), after]),
    offset: VALUE_AT + 4 + 7 + 3,
    path: ['o', 'v'],
  },
  'in an array': {
    wrap: (bad) => document([element(Type.ARRAY, 'a', document([after, after, bad])), after]),
    offset: VALUE_AT + 4 + 7 + 7 + 3,
    path: ['a', '2'],
  },
  'in a scope': {
    wrap: (bad) =>
      document([element(Type.CODE_WITH_SCOPE, 'c', payload.codeWithScope('f', document([bad]))), after]),
    offset: VALUE_AT + 4 + 6 + 4 + 3,
    path: ['c', 'scope', 'v'],
  },
};

function expectError(call, { message, offset, path, code = /^BSONROW_[A-Z0-9_]+$/, type = Error }) {
  const { value, error } = attempt(call);
  expect(value, 'no error').toBeUndefined();
  expect(error).toBeInstanceOf(type);
  expect({ message: error.message, offset: error.offset, path: error.path }).toEqual({
    message,
    offset,
    path,
  });
  expect(error.code).toMatch(code);
}

for (const [placeName, place] of Object.entries(PLACES)) {
  describe(placeName, () => {
    for (const [name, [type, bytes, message, into]] of Object.entries(BAD_VALUES)) {
      it(name, () => {
        const source = place.wrap(element(type, 'v', bytes));
        expectError(() => bufferToSqlite(source, 0), {
          message,
          offset: place.offset + into,
          path: place.path,
        });
      });
    }

    it('unknown element types', () => {
      const start =
        placeName === 'column' ? 'Unsupported BSON type for skip' : 'Unsupported BSON nested type';
      for (const type of [0x14, 0x7e, 0x80, 0xfe]) {
        expectError(() => bufferToSqlite(place.wrap(element(type, 'v', [])), 0), {
          message: `${start}: 0x${type.toString(16)}`,
          // The type byte stands before the name.
          offset: place.offset - 3,
          path: place.path,
        });
      }
    });

    it('a date out of range', () => {
      expectError(
        () => bufferToSqlite(place.wrap(element(Type.DATETIME, 'v', payload.datetime(2n ** 62n))), 0),
        {
          message: 'Invalid time value',
          offset: place.offset,
          path: place.path,
          type: RangeError,
        },
      );
    });
  });
}

describe('an element that reaches past its document', () => {
  const WIDTHS = {
    DOUBLE: 8,
    OBJECT_ID: 12,
    BOOLEAN: 1,
    DATETIME: 8,
    INT32: 4,
    TIMESTAMP: 8,
    INT64: 8,
    DECIMAL128: 16,
  };
  for (const [typeName, width] of Object.entries(WIDTHS)) {
    it(`${typeName}, at every length`, () => {
      for (let length = 0; length < width; length++) {
        const bad = element(Type[typeName], 'v', Buffer.alloc(length, 1));
        const message = 'Invalid BSON: element exceeds its document';
        expectError(() => bufferToSqlite(document([bad]), 0), { message, offset: VALUE_AT, path: ['v'] });
        expectError(
          () => bufferToSqlite(document([element(Type.DOCUMENT, 'o', document([bad])), after]), 0),
          {
            message,
            offset: VALUE_AT + 4 + 3,
            path: ['o', 'v'],
          },
        );
      }
    });
  }
  it('the ObjectId of a DBPointer', () => {
    const short = Buffer.concat([payload.string('a.b'), Buffer.alloc(11)]);
    expectError(() => bufferToSqlite(document([element(Type.DB_POINTER, 'v', short)]), 0), {
      message: 'Invalid BSON: element exceeds its document',
      offset: VALUE_AT + 8,
      path: ['v'],
    });
  });
});

describe('text without an end', () => {
  const missing = 'Invalid BSON: missing cstring terminator';
  it('a name that runs into the terminator of its document', () => {
    const source = document([Buffer.concat([Buffer.of(Type.NULL), Buffer.from('abc')])]);
    expectError(() => bufferToSqlite(source, 0), { message: missing, offset: source.length - 1, path: [] });
    const nested = document([element(Type.DOCUMENT, 'o', source), after]);
    expectError(() => bufferToSqlite(nested, 0), {
      message: missing,
      offset: VALUE_AT + source.length - 1,
      path: ['o'],
    });
  });
  it('a regular expression without a terminator, and with one', () => {
    for (const bytes of ['abc', 'abc\0i']) {
      const source = document([element(Type.REGEX, 'v', Buffer.from(bytes))]);
      expectError(() => bufferToSqlite(source, 0), {
        message: 'Invalid BSON regex',
        offset: VALUE_AT,
        path: ['v'],
      });
    }
  });
});

describe('the document itself', () => {
  const good = document([int('_id', 1), after]);
  const CALLS = {
    bufferToSqlite: (bytes) => bufferToSqlite(bytes, 0),
    rawToSqliteRow: (bytes) => new NativeSourceRowConverter(0).rawToSqliteRow(bytes),
    parseDocumentId,
  };
  for (const [name, call] of Object.entries(CALLS)) {
    it(`${name}: buffers of 0 to 4 bytes`, () => {
      for (let length = 0; length < 5; length++) {
        expectError(() => call(good.subarray(0, length)), {
          message: 'Invalid BSON document length',
          offset: 0,
          path: [],
        });
        expectError(() => call(Buffer.alloc(length)), {
          message: 'Invalid BSON document length',
          offset: 0,
          path: [],
        });
      }
    });
    it(`${name}: stated lengths`, () => {
      for (const length of [0, 4, -1, good.length + 1, 0x7fffffff, -0x80000000]) {
        const bytes = Buffer.from(good);
        bytes.writeInt32LE(length);
        expectError(() => call(bytes), { message: 'Invalid BSON document length', offset: 0, path: [] });
      }
    });
    it(`${name}: terminator`, () => {
      const bytes = Buffer.from(good);
      bytes[bytes.length - 1] = 1;
      expectError(() => call(bytes), {
        message: 'Invalid BSON document terminator',
        offset: bytes.length - 1,
        path: [],
      });
    });
  }

  it('a zero byte where an element type should be', () => {
    const zero = Buffer.of(0);
    expectError(() => bufferToSqlite(document([after, zero, after]), 0), {
      message: 'Unsupported BSON type for skip: 0x0',
      offset: 4 + after.length,
      path: [],
    });
    expectError(
      () => bufferToSqlite(document([element(Type.DOCUMENT, 'o', document([after, zero, after]))]), 0),
      {
        message: 'Unsupported BSON nested type: 0x0',
        offset: VALUE_AT + 4 + after.length,
        path: ['o'],
      },
    );
  });

  it('no _id', () => {
    for (const call of [CALLS.rawToSqliteRow, CALLS.parseDocumentId]) {
      const { error } = attempt(() => call(document([after])));
      expect(error.message).toBe('Attempt to parse document without _id');
      expect(error.code).toBe('BSONROW_NO_ID');
      expect(error.path).toEqual([]);
    }
  });
});

describe('depth', () => {
  it('names the first container that is too deep', () => {
    let bytes = document([]);
    for (let level = 0; level < 22; level++) bytes = document([element(Type.DOCUMENT, 'a', bytes)]);
    expectError(() => bufferToSqlite(bytes, 0), {
      message: 'json nested object depth exceeds the limit of 20',
      // 21 containers are entered, each 4 + 3 bytes before the next; the type byte of the 22nd.
      offset: 4 + 21 * 7,
      path: Array(22).fill('a'),
      code: /^BSONROW_DEPTH$/,
    });
  });
});

describe('strict', () => {
  const strict = new NativeSourceRowConverter(0, { strict: true });
  const id = int('_id', 1);
  const good = document([id]);
  const value = 4 + id.length + 3;
  const CASES = {
    'bytes after the document': [Buffer.concat([good, Buffer.of(0)]), good.length, []],
    'a boolean of 2': [document([id, element(Type.BOOLEAN, 'v', [2])]), value, ['v']],
    'ill-formed UTF-8 in a string': [
      document([id, element(Type.STRING, 'v', payload.string([0xff]))]),
      value,
      ['v'],
    ],
    'a subtype-2 inner length that is too short': [
      document([id, element(Type.BINARY, 'v', payload.legacyBinary('abc', { innerLength: 2 }))]),
      value,
      ['v'],
    ],
    'ill-formed UTF-8 in a name': [document([id, element(Type.NULL, [0xff])]), 4 + id.length, ['\ufffd']],
    nested: [
      document([id, element(Type.DOCUMENT, 'o', document([element(Type.BOOLEAN, 'b', [3])]))]),
      value + 4 + 3,
      ['o', 'b'],
    ],
  };
  for (const [name, [bytes, offset, path]] of Object.entries(CASES)) {
    it(name, () => {
      expect(() => new NativeSourceRowConverter(0).rawToSqliteRow(bytes)).not.toThrow();
      const { error } = attempt(() => strict.rawToSqliteRow(bytes));
      expect({ offset: error.offset, path: error.path }).toEqual({ offset, path });
      expect(error.code).toMatch(/^BSONROW_/);
    });
  }
  it('takes what is well-formed', () => {
    expect(strict.rawToSqliteRow(good)).toStrictEqual({ row: { _id: 1n }, replicaId: 1 });
  });
});
