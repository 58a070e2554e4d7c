/** The decided differences from the TypeScript converter, one section each: what it does, and what is done here. */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, NativeSourceRowConverter, parseChangeDocument, parseDocumentId } from '../index.js';
import { document, element, hex, int, payload, Type, withId } from './support/bson-bytes.mjs';
import { attempt } from './support/outcome.mjs';
import { changeStreamMissing, peer, peerMissing } from './support/peer.mjs';

const bson = createRequire(import.meta.url)('bson');
const converter = new NativeSourceRowConverter(0, { bson });
const text = (bytes) => payload.string(bytes);

describe('a column named __proto__ is an own property of the row', () => {
  const bytes = withId(element(Type.STRING, '__proto__', text('s')), element(Type.NULL, 'a'));
  it('here', () => {
    for (const row of [bufferToSqlite(bytes, 0), converter.rawToSqliteRow(bytes).row]) {
      expect(Object.keys(row)).toEqual(['_id', '__proto__', 'a']);
      expect(Object.getOwnPropertyDescriptor(row, '__proto__')?.value).toBe('s');
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
    }
  });
  it('no value of any type reaches the prototype of anything', () => {
    for (const [type, value] of [
      [Type.NULL, []],
      [Type.BINARY, payload.binary(0, [1])],
      [Type.DOCUMENT, document([int('polluted', 1)])],
    ]) {
      const row = bufferToSqlite(document([element(type, '__proto__', value)]), 0);
      expect(Object.keys(row)).toEqual(['__proto__']);
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      expect({}.polluted).toBeUndefined();
    }
  });
  it.skipIf(peerMissing)('the TypeScript converter loses it', () => {
    expect(Object.keys(peer.bufferToSqlite(bytes, 0))).toEqual(['_id', 'a']);
  });
});

describe('nothing reaches past the end of its enclosing document', () => {
  // In each, the next bytes of the buffer would do as the missing ones.
  const trailer = Buffer.alloc(32, 1);
  const INNER = {
    'a cut int32': document([element(Type.INT32, 'v', [1, 2, 3])]),
    'a cut double': document([element(Type.DOUBLE, 'v', Buffer.alloc(7, 1))]),
    'a cut ObjectId': document([element(Type.OBJECT_ID, 'v', Buffer.alloc(11, 1))]),
    'a missing boolean': document([element(Type.BOOLEAN, 'v', [])]),
    'a string that takes the terminator for its own': document([
      element(Type.STRING, 'v', hex('02000000 61')),
    ]),
    'a binary that takes the terminator for data': document([
      element(Type.BINARY, 'v', payload.binary(0, 'abc', { length: 4 })),
    ]),
    'a name that takes the terminator for its own': document([Buffer.from('\nabc')]),
    'a regular expression that takes the terminator': document([
      element(Type.REGEX, 'v', Buffer.from('abc\0i')),
    ]),
    'an inner document that takes the terminator': document([element(Type.DOCUMENT, 'v', hex('05000000'))]),
  };
  for (const [name, bytes] of Object.entries(INNER)) {
    it(name, () => {
      const nested = withId(
        element(Type.DOCUMENT, 'o', bytes),
        element(Type.BINARY, 'z', payload.binary(0, trailer)),
      );
      for (const source of [nested, Buffer.concat([bytes, trailer]), bytes]) {
        const { error } = attempt(() => bufferToSqlite(source, 0));
        expect(error).toBeInstanceOf(Error);
        expect(error.code).toMatch(/^BSONROW_/);
        expect(error).not.toBeInstanceOf(RangeError);
      }
    });
  }
  it.skipIf(peerMissing)('the TypeScript converter reads the terminator as data', () => {
    const nested = withId(element(Type.DOCUMENT, 'o', INNER['a cut int32']), element(Type.NULL, 'z'));
    expect(peer.bufferToSqlite(nested, 0).o).toBe('{"v":197121}');
  });
});

describe('a code with scope is as long as its parts', () => {
  const scope = document([int('x', 1)]);
  const right = payload.codeWithScope('f', scope).length;
  it('any other stated length is refused, wherever it stands', () => {
    for (const by of [-right, -4, -1, 1, 4, 1000]) {
      const code = element(
        Type.CODE_WITH_SCOPE,
        'c',
        payload.codeWithScope('f', scope, { length: right + by }),
      );
      const filler = element(Type.STRING, 'z', text('x'.repeat(2000)));
      for (const source of [
        withId(code, filler),
        withId(element(Type.DOCUMENT, 'o', document([code])), filler),
      ]) {
        const { error } = attempt(() => bufferToSqlite(source, 0));
        expect(error?.code, `${by}`).toMatch(/^BSONROW_/);
      }
    }
  });
  it.skipIf(peerMissing)('the TypeScript converter does not look at it inside a document', () => {
    const code = element(Type.CODE_WITH_SCOPE, 'c', payload.codeWithScope('f', scope, { length: right + 4 }));
    const source = withId(element(Type.DOCUMENT, 'o', document([code])));
    expect(peer.bufferToSqlite(source, 0).o).toBe('{"c":{"code":"f","scope":{"x":1}}}');
  });
});

describe('two different _ids never become one', () => {
  const REFUSED = {
    'ill-formed string': [Type.STRING, text([0xff])],
    'ill-formed symbol': [Type.SYMBOL, text([0xff])],
    'ill-formed code': [Type.CODE, text([0x61, 0xe9])],
    'ill-formed pattern': [Type.REGEX, payload.regex([0xff], 'i')],
    'ill-formed options': [Type.REGEX, payload.regex('a', [0xff])],
    'ill-formed DBPointer': [Type.DB_POINTER, payload.dbPointer([0xff], '0'.repeat(24))],
    'ill-formed code with scope': [Type.CODE_WITH_SCOPE, payload.codeWithScope([0xff], document([]))],
    'ill-formed string in a document': [Type.DOCUMENT, document([element(Type.STRING, 'a', text([0xff]))])],
    'ill-formed name in a document': [Type.DOCUMENT, document([element(Type.NULL, [0xff])])],
    'ill-formed name two levels down': [
      Type.DOCUMENT,
      document([element(Type.DOCUMENT, 'a', document([element(Type.NULL, [0xc0, 0xaf])]))]),
    ],
    'ill-formed name in a scope': [
      Type.CODE_WITH_SCOPE,
      payload.codeWithScope('f', document([element(Type.NULL, [0xff])])),
    ],
    'ill-formed pattern in a document': [
      Type.DOCUMENT,
      document([element(Type.REGEX, 'r', payload.regex([0xff], ''))]),
    ],
    'ill-formed string in an array': [Type.ARRAY, payload.array([[Type.STRING, text([0xed, 0xa0, 0x80])]])],
    'array indices out of order': [
      Type.DOCUMENT,
      document([element(Type.NULL, '10'), element(Type.NULL, '9')]),
    ],
    'an array index behind a name': [
      Type.DOCUMENT,
      document([element(Type.NULL, 'a'), element(Type.NULL, '0')]),
    ],
    'a name twice': [Type.DOCUMENT, document([element(Type.NULL, 'a'), element(Type.MIN_KEY, 'a')])],
    'a name twice, further apart': [
      Type.DOCUMENT,
      document([element(Type.NULL, 'a'), element(Type.NULL, 'b'), element(Type.NULL, 'a')]),
    ],
    'a name twice, two levels down': [
      Type.DOCUMENT,
      document([element(Type.DOCUMENT, 'd', document([element(Type.NULL, ''), element(Type.NULL, '')]))]),
    ],
    'a name twice, in an array': [
      Type.ARRAY,
      payload.array([[Type.DOCUMENT, document([element(Type.NULL, 'a'), element(Type.NULL, 'a')])]]),
    ],
    'a name twice, in a scope': [
      Type.CODE_WITH_SCOPE,
      payload.codeWithScope('f', document([element(Type.NULL, 'a'), element(Type.NULL, 'a')])),
    ],
    'a date out of range': [Type.DATETIME, payload.datetime(8640000000000001n)],
    'a date out of range, in a document': [
      Type.DOCUMENT,
      document([element(Type.DATETIME, 'd', payload.datetime(-(2n ** 63n)))]),
    ],
    'regular expression options that RegExp lacks': [Type.REGEX, payload.regex('a', 'x')],
  };
  for (const [name, [type, value]] of Object.entries(REFUSED)) {
    it(`${name}: refused`, () => {
      const bytes = document([element(type, '_id', value), element(Type.NULL, 'a')]);
      for (const call of [(source) => converter.rawToSqliteRow(source), parseDocumentId]) {
        const { error } = attempt(() => call(bytes));
        expect(error).toBeInstanceOf(Error);
        expect(error.code).toMatch(/^BSONROW_/);
        expect(error.path[0]).toBe('_id');
      }
      // A delete has no other identity than its documentKey's.
      const event = document([element(Type.DOCUMENT, 'documentKey', bytes)]);
      const { error } = attempt(() => parseChangeDocument(event));
      expect(error?.code).toMatch(/^BSONROW_/);
      expect(error.path.slice(0, 2)).toEqual(['documentKey', '_id']);
    });
  }

  it('the columns of such a document still convert where no identity is asked for', () => {
    const bytes = document([element(Type.STRING, '_id', text([0xff]))]);
    expect(bufferToSqlite(bytes, 0)).toStrictEqual({ _id: '\ufffd' });
  });

  it('a later _id is a column only, and is not looked at', () => {
    const bytes = withId(element(Type.STRING, '_id', text([0xff])));
    expect(converter.rawToSqliteRow(bytes)).toStrictEqual({ row: { _id: '\ufffd' }, replicaId: 1 });
  });

  it('ids that come back as their own bytes are kept', () => {
    for (const id of [
      'é',
      '\ufffd',
      '\0',
      '',
      { a: { b: [1, 'x', null] }, c: 'é' },
      new Date(8640000000000000),
      /a/i,
      null,
      true,
      new bson.Timestamp({ t: 1, i: 2 }),
      new bson.Binary(Buffer.of(1), 128),
      new bson.Code('f', { a: 1 }),
      new bson.MinKey(),
      { ['__proto__']: 1 },
    ]) {
      const bytes = Buffer.from(bson.serialize({ _id: id }));
      const { replicaId } = converter.rawToSqliteRow(bytes);
      expect(Buffer.from(bson.serialize({ _id: replicaId })).equals(bytes), String(id)).toBe(true);
    }
  });

  it('a regular expression is kept where the RegExp made of it has its pattern for a source', () => {
    const alphabet = ['a', '/', '\\', '[', ']', '\n'];
    const patterns = [''];
    for (const pattern of patterns) {
      if (pattern.length < 5) patterns.push(...alphabet.map((character) => pattern + character));
    }
    for (const pattern of patterns) {
      // What no RegExp can be is refused by the deserialisation itself.
      const { value: regexp } = attempt(() => new RegExp(pattern));
      const bytes = document([element(Type.REGEX, '_id', payload.regex(pattern, ''))]);
      const { value } = attempt(() => converter.rawToSqliteRow(bytes));
      expect(value?.replicaId.source, pattern).toBe(regexp?.source === pattern ? pattern : undefined);
    }
  });

  it.skipIf(peerMissing)('the TypeScript converter merges names that are ill-formed or stand twice', () => {
    const oracle = new peer.DirectSourceRowConverter(peer.contextFor(0));
    const idOf = (elements) =>
      oracle.rawToSqliteRow(document([element(Type.DOCUMENT, '_id', document(elements))])).replicaId;
    expect(idOf([element(Type.NULL, [0xff])])).toStrictEqual(idOf([element(Type.NULL, [0xfe])]));
    expect(idOf([element(Type.NULL, 'a'), element(Type.NULL, 'a')])).toStrictEqual(
      idOf([element(Type.NULL, 'a')]),
    );
  });
});

describe('an empty or tiny buffer is malformed BSON, not a RangeError of Node.js', () => {
  it('here', () => {
    for (const length of [0, 1, 3]) {
      const { error } = attempt(() => bufferToSqlite(Buffer.alloc(length), 0));
      expect(error.message).toBe('Invalid BSON document length');
      expect(error).not.toBeInstanceOf(RangeError);
    }
  });
});

describe('change events may lack any field', () => {
  const insert = element(Type.STRING, 'operationType', text('insert'));
  it('here', () => {
    expect(parseChangeDocument(document([]))).toStrictEqual({});
    expect(parseChangeDocument(document([insert]))).toStrictEqual({ operationType: 'insert' });
    const withNull = document([insert, element(Type.NULL, 'ns'), element(Type.NULL, 'documentKey')]);
    expect(parseChangeDocument(withNull)).toStrictEqual({
      operationType: 'insert',
      ns: null,
      documentKey: null,
    });
  });
  it.skipIf(changeStreamMissing)('the TypeScript converter asks for _id', () => {
    expect(() => peer.parseChangeDocument(document([insert]))).toThrow();
  });
});

describe('change events are taken as any Uint8Array', () => {
  const event = document([
    element(Type.DOCUMENT, '_id', document([element(Type.STRING, '_data', text('82'))])),
    element(Type.STRING, 'operationType', text('insert')),
    element(Type.DOCUMENT, 'fullDocument', document([int('_id', 1)])),
  ]);
  it('fullDocument is a Buffer over the same memory', () => {
    const plain = Uint8Array.from(event);
    const { fullDocument } = parseChangeDocument(plain);
    expect(Buffer.isBuffer(fullDocument)).toBe(true);
    expect(fullDocument.buffer).toBe(plain.buffer);
    expect(bufferToSqlite(fullDocument, 0)).toStrictEqual({ _id: 1n });
  });
});
