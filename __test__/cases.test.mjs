/**
 * Inputs on which real systems went wrong, each with its whole family. The id in a title is the case's name in the
 * project's list of cases.
 */
import * as bson from 'bson';
import { describe, expect, it } from 'vitest';
import {
  bufferToSqlite,
  DateRenderMode,
  getDateRenderMode,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from '../index.js';
import { document, element, hex, int, nestedDocument, payload, Type, withId } from './support/bson-bytes.mjs';
import { asColumn, inArray, inObject, rowOf } from './support/convert.mjs';
import { attempt } from './support/outcome.mjs';

const converter = new NativeSourceRowConverter(DateRenderMode.LEGACY_MILLISECONDS, { bson });
const identityOf = (type, bytes) =>
  converter.rawToSqliteRow(document([element(type, '_id', bytes)])).replicaId;
const text = (bytes) => payload.string(bytes);
const FFFD = '\ufffd';

/** A string value at every place. */
function expectText(bytes, expected, label) {
  expect(asColumn(Type.STRING, text(bytes)), label).toBe(expected);
  expect(JSON.parse(inArray(Type.STRING, text(bytes))), label).toBe(expected);
  expect(JSON.parse(inObject(Type.STRING, text(bytes))).v, label).toBe(expected);
}

describe('U1: ill-formed UTF-8 becomes U+FFFD', () => {
  it('a lone byte', () => {
    for (const byte of [0xff, 0xe9]) {
      expect(asColumn(Type.STRING, text([byte]))).toBe(FFFD);
      expect(inArray(Type.STRING, text([byte]))).toBe(`"${FFFD}"`);
    }
  });

  it('every first byte with every second byte, as TextDecoder reads it', () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    for (let first = 0x80; first <= 0xff; first++) {
      const values = [];
      for (let second = 0; second <= 0xff; second++) values.push(Buffer.of(0x61, first, second, 0x62));
      const row = rowOf(values.map((bytes, index) => element(Type.STRING, `c${index}`, text(bytes))));
      const nested = JSON.parse(
        rowOf([element(Type.ARRAY, 'a', payload.array(values.map((bytes) => [Type.STRING, text(bytes)])))]).a,
      );
      values.forEach((bytes, index) => {
        const expected = decoder.decode(bytes);
        expect(row[`c${index}`], bytes.toString('hex')).toBe(expected);
        expect(nested[index], bytes.toString('hex')).toBe(expected);
      });
    }
  });

  const KINDS = {
    'lone continuation': '80',
    'two continuations': '80 bf',
    'overlong slash, 2 bytes': 'c0 af',
    'overlong slash, 3 bytes': 'e0 80 af',
    'overlong slash, 4 bytes': 'f0 80 80 af',
    'overlong NUL': 'c0 80',
    'first of a surrogate pair': 'ed a0 80',
    'last surrogate': 'ed bf bf',
    'above U+10FFFF': 'f4 90 80 80',
    'lead f5': 'f5 80 80 80',
    '5-byte form': 'f8 88 80 80 80',
    '6-byte form': 'fc 84 80 80 80 80',
    'cut 2-byte sequence': 'c3',
    'cut 3-byte sequence': 'e2 82',
    'cut 4-byte sequence': 'f0 9f 98',
    'cut sequence, then a good one': 'f0 9f 98 c3 a9',
    'cut sequence, then ASCII': 'e2 82 41',
    'bytes fe and ff': 'fe fe ff ff',
  };
  for (const [kind, digits] of Object.entries(KINDS)) {
    it(kind, () => {
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      // Around the block sizes of vector code, at the start, in the middle and at the end.
      for (const before of [0, 1, 7, 14, 15, 16, 17, 31, 32, 33, 63, 64]) {
        for (const after of [0, 1, 16, 40]) {
          for (const filler of ['x', 'é', '漢']) {
            const bytes = Buffer.concat([
              Buffer.from(filler.repeat(before)),
              hex(digits),
              Buffer.from(filler.repeat(after)),
            ]);
            expectText(bytes, decoder.decode(bytes), `${before} ${filler} before, ${after} after`);
          }
        }
      }
    });
  }

  it('in names, regular expressions, code and DBPointer', () => {
    expect(Object.keys(rowOf([element(Type.NULL, [0x61, 0xff])]))).toEqual([`a${FFFD}`]);
    expect(rowOf([element(Type.DOCUMENT, 'o', document([element(Type.NULL, [0xe9])]))]).o).toBe(
      `{"${FFFD}":null}`,
    );
    expect(inArray(Type.REGEX, payload.regex([0xe9], [0xff]))).toBe(
      `{"pattern":"${FFFD}","options":"${FFFD}"}`,
    );
    expect(inArray(Type.CODE, text([0xe9]))).toBe(`{"code":"${FFFD}","scope":null}`);
  });
});

describe('U3: surrogates as bytes', () => {
  it('one gives 3, a pair gives 6 replacement characters', () => {
    expectText(hex('ed a0 bd'), FFFD.repeat(3));
    expectText(hex('ed a0 bd ed b8 9a'), FFFD.repeat(6));
  });
});

describe('U4: U+FFFD and BOM are kept', () => {
  it('a real U+FFFD', () => expectText(hex('ef bf bd'), FFFD));
  it('a BOM first, in the middle and alone', () => {
    expectText(hex('ef bb bf 61'), '\ufeffa');
    expectText(hex('61 ef bb bf'), 'a\ufeff');
    expectText(hex('ef bb bf'), '\ufeff');
  });
  it('a BOM in a name', () => {
    expect(Object.keys(rowOf([element(Type.NULL, '\ufeffa')]))).toEqual(['\ufeffa']);
    expect(rowOf([element(Type.DOCUMENT, 'o', document([element(Type.NULL, '\ufeffa')]))]).o).toBe(
      '{"\ufeffa":null}',
    );
  });
});

describe('U5: NUL inside a string', () => {
  it('is kept', () => {
    expect(asColumn(Type.STRING, text('a\0b'))).toBe('a\0b');
    expect(inArray(Type.STRING, text('a\0b'))).toBe('"a\\u0000b"');
    expect(inArray(Type.STRING, text('\0'))).toBe('"\\u0000"');
    expect(asColumn(Type.STRING, text('\0\0'))).toBe('\0\0');
  });
});

describe('U6: JSON escapes', () => {
  it('every character below U+0100 and the separators, as JSON.stringify writes them', () => {
    const characters = [...Array(0x100).keys()].map((code) => String.fromCharCode(code));
    for (const character of [...characters, '\u2028', '\u2029', '😀']) {
      for (const value of [character, `ab${character}`, `${character}cd`, `${'x'.repeat(15)}${character}y`]) {
        expect(inArray(Type.STRING, text(value))).toBe(JSON.stringify(value));
      }
    }
  });

  it('in names, too', () => {
    for (let code = 1; code < 0x100; code++) {
      const name = `n${String.fromCharCode(code)}`;
      expect(rowOf([element(Type.DOCUMENT, 'o', document([element(Type.NULL, name)]))]).o).toBe(
        JSON.stringify({ [name]: null }),
      );
    }
  });

  it('at every position of a long string', () => {
    for (let at = 0; at < 80; at++) {
      const value = `${'a'.repeat(at)}"${'b'.repeat(80 - at)}`;
      expect(inArray(Type.STRING, text(value))).toBe(JSON.stringify(value));
    }
  });
});

describe('U7: text that grows sixfold', () => {
  it('is exact, and holds nothing of the document before', () => {
    const secret = 'SECRET'.repeat(100_000);
    expect(inArray(Type.STRING, text(secret))).toBe(`"${secret}"`);
    for (const count of [1, 100, 4_095, 4_096, 65_537, 400_000, 1_500_000]) {
      const grown = inArray(Type.STRING, text('\x01'.repeat(count)));
      expect(grown.length).toBe(6 * count + 2);
      expect(grown === `"${'\\u0001'.repeat(count)}"`).toBe(true);
    }
  });
});

describe('K1: a column named __proto__', () => {
  const VALUES = {
    string: [Type.STRING, text('s'), 's', '"s"'],
    null: [Type.NULL, [], null, 'null'],
    binary: [Type.BINARY, payload.binary(0, [1]), Uint8Array.of(1), undefined],
    document: [Type.DOCUMENT, document([]), '{}', '{}'],
  };
  for (const [kind, [type, bytes, column, json]] of Object.entries(VALUES)) {
    it(`${kind}`, () => {
      const row = rowOf([element(type, '__proto__', bytes), element(Type.NULL, 'after')]);
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      expect(Object.keys(row)).toEqual(['__proto__', 'after']);
      expect(Object.getOwnPropertyDescriptor(row, '__proto__')).toEqual({
        value: column,
        writable: true,
        enumerable: true,
        configurable: true,
      });
      expect(rowOf([element(Type.DOCUMENT, 'o', document([element(type, '__proto__', bytes)]))]).o).toBe(
        json === undefined ? '{}' : `{"__proto__":${json}}`,
      );
    });
  }
});

describe('K2: repeated names', () => {
  it('top level: first place, last value', () => {
    expect(rowOf([int('a', 1), int('a', 2)])).toStrictEqual({ a: 2n });
    const row = rowOf([int('a', 1), int('b', 2), int('a', 3), int('b', 4), int('c', 5)]);
    expect(Object.entries(row)).toEqual([
      ['a', 3n],
      ['b', 4n],
      ['c', 5n],
    ]);
  });
  it('top level: names that only become equal by decoding', () => {
    expect(rowOf([int([0xff], 1), int('b', 2), int([0xfe], 3)])).toStrictEqual({ [FFFD]: 3n, b: 2n });
  });
  it('top level: with values of different types', () => {
    expect(rowOf([int('a', 1), element(Type.NULL, 'a')])).toStrictEqual({ a: null });
    const row = rowOf([element(Type.NULL, '__proto__'), int('__proto__', 1)]);
    expect(Object.getOwnPropertyDescriptor(row, '__proto__')?.value).toBe(1n);
  });
  it('nested: both, in order', () => {
    expect(rowOf([element(Type.DOCUMENT, 'o', document([int('a', 1), int('a', 2)]))]).o).toBe(
      '{"a":1,"a":2}',
    );
  });
  it('a thousand times the same name', () => {
    expect(rowOf([...Array(1000).keys()].map((value) => int('a', value)))).toStrictEqual({ a: 999n });
  });
});

describe('K4, K5: names without special meaning', () => {
  const NAMES = [
    '',
    'a.b',
    '$set',
    '$oid',
    '$ref',
    '$numberLong',
    '_bsontype',
    'toJSON',
    'toBSON',
    'constructor',
    'prototype',
    'hasOwnProperty',
    '__defineGetter__',
    'toString',
    'valueOf',
    'then',
    'length',
    'name',
    '0',
    '01',
    '-1',
    'null',
  ];
  it('as columns and as nested names', () => {
    const elements = NAMES.map((name, index) => int(name, index));
    const row = rowOf(elements);
    for (const [index, name] of NAMES.entries()) {
      expect(Object.getOwnPropertyDescriptor(row, name)?.value, name).toBe(BigInt(index));
    }
    expect(Object.keys(row).length).toBe(NAMES.length);
    const members = NAMES.map((name, index) => `${JSON.stringify(name)}:${index}`);
    expect(rowOf([element(Type.DOCUMENT, 'o', document(elements))]).o).toBe(`{${members.join(',')}}`);
  });
});

describe('N1, N2: 64-bit integers', () => {
  it('exact around every power of two and ten', () => {
    const values = new Set([0n, -1n, 9007199254740993n]);
    for (let bit = 0n; bit <= 63n; bit++) for (const by of [-1n, 0n, 1n]) values.add((1n << bit) + by);
    for (let power = 0n; power < 19n; power++) for (const by of [-1n, 0n, 1n]) values.add(10n ** power + by);
    for (const magnitude of values) {
      for (const value of [magnitude, -magnitude].map((each) => BigInt.asIntN(64, each))) {
        expect(asColumn(Type.INT64, payload.int64(value))).toBe(value);
        expect(inArray(Type.INT64, payload.int64(value))).toBe(String(value));
      }
    }
  });
});

describe('N3, N4, N6, N7: doubles', () => {
  it('not finite: the number itself, null in JSON', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(asColumn(Type.DOUBLE, payload.double(value))).toBe(value);
      expect(inArray(Type.DOUBLE, payload.double(value))).toBe('null');
    }
    for (const bits of ['7ff0000000000001', 'fff8000000000000', '7fffffffffffffff']) {
      expect(asColumn(Type.DOUBLE, hex(bits).reverse())).toBeNaN();
      expect(inArray(Type.DOUBLE, hex(bits).reverse())).toBe('null');
    }
  });

  const NESTED = {
    100000000000000000000: 1e20,
    '1e+21': 1e21,
    0.000001: 1e-6,
    '1e-7': 1e-7,
    '5e-324': 5e-324,
    '1.7976931348623157e+308': 1.7976931348623157e308,
    0.30000000000000004: 0.1 + 0.2,
    0: -0,
    1: 1.0,
    2.5: 2.5,
  };
  for (const [json, value] of Object.entries(NESTED)) {
    it(`nested ${json}`, () => expect(inArray(Type.DOUBLE, payload.double(value))).toBe(json));
  }

  it('at every exponent, as JSON.stringify writes them', () => {
    for (let exponent = -330; exponent <= 308; exponent++) {
      for (const digits of [
        '1',
        '9',
        '1.5',
        '1.2345678901234567',
        '-7.000000000000001',
        '9.999999999999999',
      ]) {
        const value = Number(`${digits}e${exponent}`);
        expect(inArray(Type.DOUBLE, payload.double(value))).toBe(JSON.stringify(value));
      }
    }
  });

  it('top level: -0 is 0n, 1.0 is 1n, 2.5 stays', () => {
    expect(asColumn(Type.DOUBLE, payload.double(-0))).toBe(0n);
    expect(asColumn(Type.DOUBLE, payload.double(1))).toBe(1n);
    expect(asColumn(Type.DOUBLE, payload.double(2.5))).toBe(2.5);
  });
});

describe('N5: integral doubles of any size', () => {
  it('the named values', () => {
    expect(asColumn(Type.DOUBLE, payload.double(2 ** 63))).toBe(9223372036854775808n);
    expect(asColumn(Type.DOUBLE, payload.double(1e21))).toBe(1000000000000000000000n);
    expect(asColumn(Type.DOUBLE, payload.double(123456789012345680000))).toBe(123456789012345683968n);
    expect(inArray(Type.DOUBLE, payload.double(123456789012345680000))).toBe('123456789012345680000');
  });
  it('every power of two and its neighbours', () => {
    for (let exponent = 0; exponent < 1024; exponent++) {
      for (const factor of [1, 1 + Number.EPSILON, 2 - Number.EPSILON, 1.5]) {
        const magnitude = factor * 2 ** exponent;
        for (const value of [magnitude, -magnitude]) {
          const expected = Number.isInteger(value) ? BigInt(value) : value;
          expect(asColumn(Type.DOUBLE, payload.double(value))).toBe(expected);
        }
      }
    }
  });
});

describe('N8: Decimal128', () => {
  it('named values, as js-bson writes them', () => {
    const VALUES = [
      'NaN',
      'Infinity',
      '-Infinity',
      '-0',
      '0E+3',
      '1E-6176',
      '9.999999999999999999999999999999999E+6144',
    ];
    for (const value of VALUES) {
      const bytes = bson.Decimal128.fromString(value).bytes;
      expect(asColumn(Type.DECIMAL128, bytes)).toBe(value);
      expect(inArray(Type.DECIMAL128, bytes)).toBe(`"${value}"`);
    }
  });
  it('every high word, with small and over-wide coefficients', () => {
    for (let word = 0; word <= 0xffff; word += 0x35) {
      for (const rest of ['00'.repeat(14), `${'00'.repeat(13)}7b`, 'ff'.repeat(14)]) {
        const bytes = hex(word.toString(16).padStart(4, '0') + rest).reverse();
        expect(asColumn(Type.DECIMAL128, bytes)).toBe(new bson.Decimal128(Uint8Array.from(bytes)).toString());
      }
    }
  });
});

describe('D1, D4, D5: dates', () => {
  const day = (ms, mode) => asColumn(Type.DATETIME, payload.datetime(ms), mode);
  const { LEGACY_MILLISECONDS, ISO_MILLISECONDS, ISO_SECONDS } = DateRenderMode;

  it('D1: years above 9999 and below 0', () => {
    expect(day(253402300800000n, LEGACY_MILLISECONDS)).toBe('+010000-01-01 00:00:00.000Z');
    expect(day(-62167219200001n, LEGACY_MILLISECONDS)).toBe('-000001-12-31 23:59:59.999Z');
    expect(day(253402300800000n, ISO_MILLISECONDS)).toBe('+010000-01-01T00:00:00.000Z');
    expect(day(253402300800000n, ISO_SECONDS)).toBe('+010000-01-01T00:00:00Z');
  });
  it('D4: year 0, and one millisecond before 1970', () => {
    expect(day(-62167219200000n, LEGACY_MILLISECONDS)).toBe('0000-01-01 00:00:00.000Z');
    expect(day(-1n, LEGACY_MILLISECONDS)).toBe('1969-12-31 23:59:59.999Z');
  });
  it('every month of leap and common years at both ends of the range', () => {
    for (const year of [
      -271821, -100, -4, -1, 0, 1, 4, 99, 100, 400, 1900, 1970, 2000, 2024, 2100, 9999, 10000, 275760,
    ]) {
      for (let month = 0; month < 12; month++) {
        for (const date of [1, 28, 29, 31]) {
          const value = new Date(0);
          value.setUTCFullYear(year, month, date);
          const ms = value.getTime();
          if (Number.isNaN(ms)) continue;
          const iso = value.toISOString();
          expect(day(ms, ISO_MILLISECONDS)).toBe(iso);
          expect(day(ms, LEGACY_MILLISECONDS)).toBe(iso.replace('T', ' '));
          expect(day(ms, ISO_SECONDS)).toBe(iso.replace('.000Z', 'Z'));
        }
      }
    }
  });
  it('D5: the render mode of every combination of options', () => {
    for (const edition of [1, 2, 3]) {
      for (const override of [undefined, false, true]) {
        for (const digits of [undefined, null, 0, 3, 6]) {
          const overrides = new Map(
            override === undefined ? [] : [[{ name: 'timestamps_iso8601' }, override]],
          );
          const maxTimeValuePrecision =
            digits === undefined || digits === null ? digits : { subSecondDigits: digits };
          const isIso = override ?? edition >= 2;
          let expected = LEGACY_MILLISECONDS;
          if (isIso) expected = digits === 0 ? ISO_SECONDS : ISO_MILLISECONDS;
          const context = { edition, overrides, maxTimeValuePrecision };
          expect(getDateRenderMode(context)).toBe(expected);
          const bytes = withId(element(Type.DATETIME, 'v', payload.datetime(999n)));
          expect(new NativeSourceRowConverter(context).rawToSqliteRow(bytes).row).toStrictEqual(
            bufferToSqlite(bytes, expected),
          );
        }
      }
    }
  });
});

describe('D3: dates that JavaScript does not have', () => {
  const values = [-4611686018427388000n, 8640000000000001n, -8640000000000001n, 2n ** 63n - 1n, -(2n ** 63n)];
  for (const ms of values) {
    it(`${ms} ms`, () => {
      for (const convert of [asColumn, inArray, inObject]) {
        for (const mode of Object.values(DateRenderMode)) {
          const { error } = attempt(() => convert(Type.DATETIME, payload.datetime(ms), mode));
          expect(error).toBeInstanceOf(RangeError);
          expect(error.message).toBe('Invalid time value');
          expect(error.code).toMatch(/^BSONROW_/);
        }
      }
    });
  }
});

describe('B1, B2, B4: binary', () => {
  const bytesOf = (length) => Uint8Array.from({ length }, (_, index) => 255 - index);
  it('B1: only 16 bytes of subtype 4 are a UUID', () => {
    for (let length = 0; length <= 40; length++) {
      const binary = payload.binary(4, bytesOf(length));
      if (length === 16) {
        expect(asColumn(Type.BINARY, binary)).toBe('fffefdfc-fbfa-f9f8-f7f6-f5f4f3f2f1f0');
        expect(inArray(Type.BINARY, binary)).toBe('"fffefdfc-fbfa-f9f8-f7f6-f5f4f3f2f1f0"');
      } else {
        expect(asColumn(Type.BINARY, binary)).toStrictEqual(bytesOf(length));
        expect(inArray(Type.BINARY, binary)).toBe('null');
        expect(inObject(Type.BINARY, binary)).toBe('{}');
      }
    }
  });
  it('B2, B4: every other subtype is its bytes', () => {
    for (let subtype = 0; subtype < 256; subtype++) {
      if (subtype === 2 || subtype === 4) continue;
      for (const length of [0, 1, 2, 16]) {
        const binary = payload.binary(subtype, bytesOf(length));
        expect(asColumn(Type.BINARY, binary)).toStrictEqual(bytesOf(length));
        expect(inArray(Type.BINARY, binary)).toBe('null');
        expect(inObject(Type.BINARY, binary)).toBe('{}');
      }
    }
  });
});

describe('S1 to S6: rare types', () => {
  it('S1: undefined', () => {
    expect(asColumn(Type.UNDEFINED, [])).toBeNull();
    expect(inArray(Type.UNDEFINED, [])).toBe('null');
    expect(inObject(Type.UNDEFINED, [])).toBe('{}');
  });
  it('S2: MinKey, MaxKey, symbol', () => {
    for (const type of [Type.MIN_KEY, Type.MAX_KEY]) {
      expect(asColumn(type, [])).toBeNull();
      expect(inArray(type, [])).toBe('null');
      expect(inObject(type, [])).toBe('{"v":null}');
    }
    expect(asColumn(Type.SYMBOL, text('s'))).toBe('s');
  });
  it('S3: regular expressions verbatim', () => {
    const PATTERNS = [
      '',
      'a',
      '(?<name>x)',
      '(?i)a(?#comment)',
      '\\p{L}+',
      'a\nb',
      'a/b',
      '"',
      '(',
      '[',
      '\\',
    ];
    for (const pattern of PATTERNS) {
      for (const options of ['', 'ims', 'xim', 'ii', 'z', 'u']) {
        const expected = JSON.stringify({ pattern, options });
        expect(asColumn(Type.REGEX, payload.regex(pattern, options))).toBe(expected);
        expect(inArray(Type.REGEX, payload.regex(pattern, options))).toBe(expected);
      }
    }
  });
  it('S4: code', () => {
    expect(asColumn(Type.CODE, text('f'))).toBe('{"code":"f","scope":null}');
    const scope = document([int('x', 1)]);
    expect(asColumn(Type.CODE_WITH_SCOPE, payload.codeWithScope('f', scope))).toBe(
      '{"code":"f","scope":{"x":1}}',
    );
  });
  it('S5: DBRef documents stay documents', () => {
    const reference = document([
      element(Type.STRING, '$ref', text('c')),
      int('$id', 1),
      element(Type.STRING, '$db', text('d')),
      element(Type.NULL, 'foo'),
    ]);
    expect(asColumn(Type.DOCUMENT, reference)).toBe('{"$ref":"c","$id":1,"$db":"d","foo":null}');
    expect(asColumn(Type.DB_POINTER, payload.dbPointer('mydb.coll', '0'.repeat(24)))).toBe(
      '{"collection":"coll","oid":"000000000000000000000000","db":"mydb","fields":{}}',
    );
  });
  it('S6: no dangling commas, whatever is left out', () => {
    const kinds = [
      [Type.BINARY, payload.binary(0, [1])],
      [Type.UNDEFINED, []],
      [Type.INT32, payload.int32(7)],
    ];
    for (let pattern = 0; pattern < 3 ** 4; pattern++) {
      const picked = [0, 1, 2, 3].map((place) => kinds[Math.floor(pattern / 3 ** place) % 3]);
      const members = picked.flatMap(([type], index) => (type === Type.INT32 ? [`"k${index}":7`] : []));
      const elements = picked.map(([type, bytes], index) => element(type, `k${index}`, bytes));
      expect(rowOf([element(Type.DOCUMENT, 'o', document(elements))]).o).toBe(`{${members.join(',')}}`);
      const items = picked.map(([type]) => (type === Type.INT32 ? '7' : 'null'));
      expect(rowOf([element(Type.ARRAY, 'a', payload.array(picked))]).a).toBe(`[${items.join(',')}]`);
    }
    expect(asColumn(Type.DOCUMENT, document([]))).toBe('{}');
    expect(asColumn(Type.ARRAY, document([]))).toBe('[]');
  });
});

describe('I1, I2, I3, I6: identity', () => {
  const OID = '66e834cc91d805df11fa0ecb';
  it('I1: an ObjectId and the string of its digits differ', () => {
    const id = identityOf(Type.OBJECT_ID, payload.objectId(OID));
    expect(id).toBeInstanceOf(bson.ObjectId);
    expect(id.toHexString()).toBe(OID);
    expect(identityOf(Type.STRING, text(OID))).toBe(OID);
  });

  it('I2: ids of every type', () => {
    expect(identityOf(Type.INT32, payload.int32(1))).toBe(1);
    expect(identityOf(Type.INT64, payload.int64(1))).toBe(1n);
    expect(identityOf(Type.DOUBLE, payload.double(1))).toBe(1);
    expect(identityOf(Type.DOUBLE, payload.double(-0))).toBe(-0);
    expect(identityOf(Type.DOUBLE, payload.double(1.5))).toBe(1.5);
    expect(identityOf(Type.DOUBLE, payload.double(Number.NaN))).toBeNaN();
    expect(identityOf(Type.STRING, text('1'))).toBe('1');
    expect(identityOf(Type.SYMBOL, text('s'))).toBe('s');
    expect(identityOf(Type.BOOLEAN, [1])).toBe(true);
    expect(identityOf(Type.BOOLEAN, [0])).toBe(false);
    expect(identityOf(Type.NULL, [])).toBeNull();
    expect(identityOf(Type.UNDEFINED, [])).toBeUndefined();
    expect(identityOf(Type.DATETIME, payload.datetime(5))).toStrictEqual(new Date(5));
    expect(identityOf(Type.BINARY, payload.binary(0, [1, 2]))).toStrictEqual(
      new bson.Binary(Buffer.of(1, 2), 0),
    );
    expect(identityOf(Type.BINARY, payload.legacyBinary([1, 2]))).toStrictEqual(
      new bson.Binary(Buffer.of(1, 2), 2),
    );
    const uuid = identityOf(Type.BINARY, payload.binary(4, Buffer.alloc(16, 1)));
    expect(uuid).toBeInstanceOf(bson.UUID);
    expect(uuid.toHexString()).toBe('01010101-0101-0101-0101-010101010101');
    expect(identityOf(Type.BINARY, payload.binary(4, [1]))).toStrictEqual(new bson.Binary(Buffer.of(1), 4));
    const parts = [int('a', 1), element(Type.INT64, 'b', payload.int64(1))];
    expect(identityOf(Type.DOCUMENT, document(parts))).toStrictEqual({ a: 1, b: 1n });
    expect(identityOf(Type.ARRAY, payload.array([[Type.INT32, payload.int32(1)]]))).toStrictEqual([1]);
    expect(identityOf(Type.TIMESTAMP, payload.timestamp(2, 1))).toStrictEqual(
      new bson.Timestamp({ t: 2, i: 1 }),
    );
    const decimal = identityOf(Type.DECIMAL128, bson.Decimal128.fromString('1.50').bytes);
    expect(decimal).toBeInstanceOf(bson.Decimal128);
    expect(decimal.toString()).toBe('1.50');
    expect(identityOf(Type.REGEX, payload.regex('a', 'i'))).toStrictEqual(/a/i);
    expect(identityOf(Type.CODE, text('f'))).toStrictEqual(new bson.Code('f'));
    expect(identityOf(Type.MIN_KEY, [])).toBeInstanceOf(bson.MinKey);
    expect(identityOf(Type.MAX_KEY, [])).toBeInstanceOf(bson.MaxKey);
  });

  it('I3: wherever the first _id stands', () => {
    const filler = [...Array(199).keys()].map((index) => element(Type.STRING, `f${index}`, text('_id')));
    const nested = element(Type.DOCUMENT, 'd', document([int('_id', 9)]));
    const id = int('_id', 7);
    expect(converter.rawToSqliteRow(document([...filler, id])).replicaId).toBe(7);
    expect(parseDocumentId(document([...filler, id])).id).toBe(7);
    for (const elements of [[], filler, [nested], [element(Type.NULL, '_idx'), element(Type.NULL, '_i')]]) {
      for (const call of [(bytes) => converter.rawToSqliteRow(bytes), parseDocumentId]) {
        expect(() => call(document(elements))).toThrow('Attempt to parse document without _id');
      }
      expect(() => bufferToSqlite(document(elements), 0)).not.toThrow();
    }
  });

  it('I3: the first of two', () => {
    const bytes = document([1, 2].map((value) => int('_id', value)));
    expect(converter.rawToSqliteRow(bytes)).toStrictEqual({ row: { _id: 2n }, replicaId: 1 });
    expect(parseDocumentId(bytes).id).toBe(1);
  });

  it('I6: classes of the bson that the caller names', async () => {
    const bson7 = await import('bson7');
    for (const implementation of [bson, bson7]) {
      const own = new NativeSourceRowConverter(0, { bson: implementation });
      const idOf = (type, bytes) => own.rawToSqliteRow(document([element(type, '_id', bytes)])).replicaId;
      expect(idOf(Type.OBJECT_ID, payload.objectId(OID))).toBeInstanceOf(implementation.ObjectId);
      expect(idOf(Type.BINARY, payload.binary(0, [1]))).toBeInstanceOf(implementation.Binary);
      expect(idOf(Type.DECIMAL128, Buffer.alloc(16))).toBeInstanceOf(implementation.Decimal128);
      const inner = idOf(Type.DOCUMENT, document([element(Type.OBJECT_ID, 'o', payload.objectId(OID))]));
      expect(inner.o).toBeInstanceOf(implementation.ObjectId);
    }
  });
});

describe('M1: depth', () => {
  const LIMIT = 'json nested object depth exceeds the limit of 20';
  it('21 containers are read, 22 and 10,000 are refused', () => {
    // `nestedDocument` counts the containers below the column's own.
    expect(bufferToSqlite(nestedDocument(20), 0).d).toBe(`${'{"a":'.repeat(20)}{}${'}'.repeat(20)}`);
    for (const depth of [21, 22, 100]) expect(() => bufferToSqlite(nestedDocument(depth), 0)).toThrow(LIMIT);
  });
  it('10,000 and 1,000,000 documents, without recursion', () => {
    for (const depth of [10_000, 1_000_000]) {
      const { error } = attempt(() => bufferToSqlite(deepBytes(depth), 0));
      expect(error.message).toBe(LIMIT);
      expect(() => converter.rawToSqliteRow(deepBytes(depth))).toThrow(LIMIT);
    }
  });
  it('arrays and scopes count as documents do', () => {
    const kinds = {
      D: (inner) => element(Type.DOCUMENT, 'a', document(inner)),
      A: (inner) => element(Type.ARRAY, 'a', document(inner)),
      S: (inner) => element(Type.CODE_WITH_SCOPE, 'a', payload.codeWithScope('f', document(inner))),
    };
    const chain = (letters) => [...letters].reduceRight((inner, letter) => [kinds[letter](inner)], []);
    for (const letters of ['D'.repeat(21), 'A'.repeat(21), `D${'S'.repeat(20)}`, `A${'DS'.repeat(10)}`]) {
      expect(() => rowOf(chain(letters)), letters).not.toThrow();
      expect(() => rowOf(chain(`${letters}D`)), letters).toThrow(LIMIT);
    }
    // The scope of a column of its own stands one level below the code.
    expect(() => rowOf(chain('S'.repeat(20)))).not.toThrow();
    expect(() => rowOf(chain('S'.repeat(21)))).toThrow(LIMIT);
  });

  /** Documents in each other, written from the inside out in one buffer. */
  function deepBytes(depth) {
    const bytes = Buffer.alloc(8 * depth + 5);
    let at = 0;
    for (let level = 0; level <= depth; level++) {
      bytes.writeInt32LE(bytes.length - at - level, at);
      if (level === depth) break;
      bytes.set([Type.DOCUMENT, 0x61, 0], at + 4);
      at += 7;
    }
    return bytes;
  }
});

describe('M2: lengths that lie', () => {
  const CASES = {
    'string length -1': [element(Type.STRING, 'v', payload.string('a', { length: -1 }))],
    'string length 0': [element(Type.STRING, 'v', payload.string('a', { length: 0 }))],
    'string length 1000': [element(Type.STRING, 'v', payload.string('a', { length: 1000 }))],
    'string length 2^31 - 1': [element(Type.STRING, 'v', payload.string('a', { length: 0x7fffffff }))],
    'binary length -1': [element(Type.BINARY, 'v', payload.binary(0, 'a', { length: -1 }))],
    'binary length 2^31 - 1': [element(Type.BINARY, 'v', payload.binary(0, 'a', { length: 0x7fffffff }))],
    'document length 4': [element(Type.DOCUMENT, 'v', document([], { length: 4 }))],
    'document length -1': [element(Type.DOCUMENT, 'v', document([], { length: -1 }))],
    'document terminator 1': [element(Type.DOCUMENT, 'v', document([], { terminator: 1 }))],
  };
  for (const [name, elements] of Object.entries(CASES)) {
    it(name, () => {
      for (const bytes of [document(elements), document([element(Type.ARRAY, 'a', document(elements))])]) {
        const { error } = attempt(() => bufferToSqlite(bytes, 0));
        expect(error).toBeInstanceOf(Error);
        expect(error.code).toMatch(/^BSONROW_/);
      }
    });
  }
  it('of the document itself', () => {
    for (const length of [-1, 0, 4, 6, 0x7fffffff, -0x80000000]) {
      expect(() => bufferToSqlite(document([], { length }), 0)).toThrow('Invalid BSON document length');
    }
    expect(() => bufferToSqlite(document([], { terminator: 1 }), 0)).toThrow(
      'Invalid BSON document terminator',
    );
  });
});

describe('M5: boolean bytes', () => {
  it('any byte but 0 is true; strict takes 0 and 1 only', () => {
    const strict = new NativeSourceRowConverter(0, { strict: true });
    for (let byte = 0; byte < 256; byte++) {
      expect(asColumn(Type.BOOLEAN, [byte])).toBe(byte === 0 ? 0n : 1n);
      expect(inArray(Type.BOOLEAN, [byte])).toBe(byte === 0 ? '0' : '1');
      const { error } = attempt(() => strict.rawToSqliteRow(withId(element(Type.BOOLEAN, 'v', [byte]))));
      expect(error === undefined, `byte ${byte}`).toBe(byte < 2);
    }
  });
});

describe('M6: array keys', () => {
  it('do not matter', () => {
    for (const keys of [
      ['', ''],
      ['ab', 'cd'],
      ['0', '0'],
      ['1', '0'],
      [[0xff], '-1'],
      ['x'.repeat(300), '0'],
    ]) {
      const elements = keys.map((key, index) => int(key, index));
      expect(rowOf([element(Type.ARRAY, 'a', document(elements))]).a).toBe('[0,1]');
    }
  });
});

describe('M8: unknown element types', () => {
  it('every byte that is no type', () => {
    const known = new Set(Object.values(Type));
    for (let type = 0; type < 256; type++) {
      if (known.has(type)) continue;
      const code = type.toString(16);
      const bad = [element(type, 'v', [])];
      expect(() => rowOf(bad)).toThrow(`Unsupported BSON type for skip: 0x${code}`);
      expect(() => rowOf([element(Type.DOCUMENT, 'o', document(bad))])).toThrow(
        `Unsupported BSON nested type: 0x${code}`,
      );
    }
  });
});

describe('E1: an update whose document is gone', () => {
  it('fullDocument is null', () => {
    const event = document([
      element(Type.DOCUMENT, '_id', document([element(Type.STRING, '_data', text('82'))])),
      element(Type.STRING, 'operationType', text('update')),
      element(Type.NULL, 'fullDocument'),
      element(Type.DOCUMENT, 'documentKey', document([int('_id', 1)])),
    ]);
    const change = parseChangeDocument(event);
    expect(change.fullDocument).toBeNull();
    expect(change.documentKey).toStrictEqual({ _id: 1 });
  });
});

describe('L1: large containers', () => {
  it('an array of 100,000 objects is one string', () => {
    const item = document([int('a', 1)]);
    const array = payload.array(Array(100_000).fill([Type.DOCUMENT, item]));
    expect(asColumn(Type.ARRAY, array)).toBe(`[${Array(100_000).fill('{"a":1}').join(',')}]`);
  });
});
