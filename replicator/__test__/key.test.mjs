// Keys: equal exactly where MongoDB holds two _ids for equal.
import {
  Binary,
  Decimal128,
  Double,
  deserialize,
  EJSON,
  Int32,
  Long,
  ObjectId,
  serialize,
  Timestamp,
  UUID,
} from 'bson';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeKey } from '../lib/key.mjs';

/** An _id as it comes out of the converter. */
const replicaId = (id) => deserialize(serialize({ _id: id }), { useBigInt64: true })._id;
const keyOf = (id) => encodeKey(replicaId(id)).toString('hex');

describe('what stays apart', () => {
  const hex = '66e834cc91d805df11fa0ecb';
  const uuid = '9f855862-2851-4867-a66b-0d389d95847e';
  const groups = {
    'an ObjectId and its hex digits': [new ObjectId(hex), hex],
    'a number, a string, a boolean, a date, null': [new Int32(1), '1', true, new Date(1), null],
    'a UUID, its text, its bytes in other subtypes': [
      new UUID(uuid),
      uuid,
      new Binary(new UUID(uuid).buffer, 3),
      new Binary(new UUID(uuid).buffer, 0),
    ],
    'integers that one double stands for': [
      Long.fromString('9007199254740993'),
      Long.fromString('9007199254740992'),
      Long.fromString('9007199254740994'),
    ],
    'a double and the decimal of its digits': [new Double(0.1), Decimal128.fromString('0.1')],
    'large decimals': [
      Decimal128.fromString('1E+6000'),
      Decimal128.fromString('1E+6001'),
      Decimal128.fromString('1E-6000'),
    ],
    'documents by the order of their elements': [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 1 }, {}],
    'nesting and flat names': [{ a: { b: 1 } }, { 'a.b': 1 }, { a: [1] }, { a: { 0: 1 } }],
    'a timestamp, an integer and a date of the same bits': [
      Timestamp.fromBits(5, 0),
      Long.fromNumber(5),
      new Date(5),
    ],
    'infinities and NaN': [new Double(Infinity), new Double(-Infinity), new Double(NaN), 'NaN'],
    'strings with a NUL': ['a', 'a\0', 'a\0b', ''],
  };
  test.each(Object.entries(groups))('%s', (_name, ids) => {
    expect(new Set(ids.map(keyOf)).size).toBe(ids.length);
  });
});

describe('what is one number to MongoDB is one key', () => {
  const groups = {
    one: [
      new Int32(1),
      new Double(1),
      Long.fromNumber(1),
      ...['1', '1.0', '1.000', '10E-1'].map((d) => Decimal128.fromString(d)),
    ],
    zero: [new Int32(0), new Double(-0), Decimal128.fromString('-0'), Decimal128.fromString('0E+3')],
    'a half': [new Double(0.5), Decimal128.fromString('0.5'), Decimal128.fromString('5.00E-1')],
    'two to the 53': [
      new Double(2 ** 53),
      Long.fromString('9007199254740992'),
      Decimal128.fromString('9007199254740992'),
    ],
    'two to the 63': [new Double(2 ** 63), Decimal128.fromString('9223372036854775808')],
    ten: [new Int32(10), Decimal128.fromString('1E+1')],
    NaN: [new Double(NaN), Decimal128.fromString('NaN')],
    infinity: [new Double(Infinity), Decimal128.fromString('Infinity')],
    'within a document': [
      { n: new Int32(3), in: [new Double(2)] },
      { n: Long.fromNumber(3), in: [new Int32(2)] },
    ],
  };
  test.each(Object.entries(groups))('%s', (_name, ids) => {
    expect(new Set(ids.map(keyOf)).size).toBe(1);
  });
});

test('a document with an ObjectId in it keeps its bytes', () => {
  const id = new ObjectId('66e834cc91d805df11fa0ecb');
  expect(encodeKey({ a: id }).includes(Buffer.from(id.id))).toBe(true);
  expect(encodeKey(id)).toEqual(Buffer.from('0766e834cc91d805df11fa0ecb', 'hex'));
});

test('a value that cannot be an _id is refused', () => {
  expect(() => encodeKey(new Date(Number.NaN))).toThrow(RangeError);
  expect(() => encodeKey({ _bsontype: 'Strange' })).toThrow(TypeError);
  expect(() => encodeKey(() => 1)).toThrow(TypeError);
});

describe('generated _ids', () => {
  const number = fc.oneof(
    fc.integer({ min: -3, max: 3 }).map((n) => new Int32(n)),
    fc.integer({ min: -3, max: 3 }).map((n) => new Double(n / 2)),
    fc.bigInt({ min: -3n, max: 3n }).map((n) => Long.fromBigInt(n)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => Long.fromBigInt(n)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => new Double(n)),
    fc
      .tuple(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -3, max: 3 }))
      .map(([digits, power]) => Decimal128.fromString(`${digits}E${power}`)),
  );
  const scalar = fc.oneof(
    number,
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('1', '0', 'true', '', null, true, false),
    fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
    fc
      .tuple(fc.uint8Array({ maxLength: 3 }), fc.constantFrom(0, 3, 5, 128))
      .map(([bytes, subtype]) => new Binary(bytes, subtype)),
    fc.integer({ min: 0, max: 3 }).map((ms) => new Date(ms)),
  );
  const { id } = fc.letrec((tie) => ({
    id: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      fc.array(tie('id'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'a.b'), tie('id'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ),
  }));

  test('two keys are equal exactly where the two _ids are', () => {
    fc.assert(
      fc.property(id, id, (a, b) => {
        expect(keyOf(a) === keyOf(b)).toBe(comparable(a) === comparable(b));
      }),
      { numRuns: 3000 },
    );
  });

  test('two numbers have one key exactly where they have one value', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(keyOf(a) === keyOf(b)).toBe(comparable(a) === comparable(b));
      }),
      { numRuns: 3000 },
    );
  });
});

/** Extended JSON, with each number as a fraction in lowest terms. */
function comparable(id) {
  const plain = (value) => {
    if (value instanceof Int32 || value instanceof Double) return { number: fractionOfDouble(value.value) };
    if (value instanceof Long) return { number: `${value}/1` };
    if (value instanceof Decimal128) return { number: fractionOfDecimal(value) };
    if (Array.isArray(value)) return { array: value.map(plain) };
    if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
      return { document: Object.entries(value).map(([name, item]) => [name, plain(item)]) };
    }
    return { value };
  };
  return EJSON.stringify(plain(id), { relaxed: false });
}

function fractionOfDouble(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & (2n ** 52n - 1n)) | (exponent === 0 ? 0n : 2n ** 52n);
  const power = Math.max(exponent, 1) - 1075;
  const signed = value < 0 ? -mantissa : mantissa;
  return power >= 0 ? reduce(signed * 2n ** BigInt(power), 1n) : reduce(signed, 2n ** BigInt(-power));
}

function fractionOfDecimal(decimal) {
  const [, digits, power = '0'] = /^([-\d.]+)(?:E(.*))?$/.exec(decimal.toString());
  const [whole, fraction = ''] = digits.split('.');
  const exponent = Number(power) - fraction.length;
  const coefficient = BigInt(whole + fraction);
  return exponent >= 0
    ? reduce(coefficient * 10n ** BigInt(exponent), 1n)
    : reduce(coefficient, 10n ** BigInt(-exponent));
}

function reduce(numerator, denominator) {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return `${numerator / a}/${denominator / a}`;
}
