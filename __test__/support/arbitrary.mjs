/** fast-check arbitraries for BSON bytes: every element type, odd names, nesting, ill-formed text, extreme values. */
import fc from 'fast-check';
import { document, element, payload, Type } from './bson-bytes.mjs';

const SPECIAL_NAMES = [
  '',
  '_id',
  '_ID',
  'id',
  'a',
  'b',
  'a.b',
  '$ref',
  '$id',
  '$oid',
  '0',
  '1',
  '10',
  '4294967295',
  'constructor',
  'toString',
  'toJSON',
  'hasOwnProperty',
  'a"b',
  'a\\b',
  '\n',
  '\u2028',
  '\ufeff',
  'é',
  '漢字',
  '😀',
  'x'.repeat(15),
  'x'.repeat(16),
  'x'.repeat(17),
  'x'.repeat(100),
];

const anyBytes = (maxLength) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));
const withoutZeros = (bytes) => Buffer.from(bytes).map((byte) => byte || 0x30);

/** Text bytes: mostly well-formed, some cut or random. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }).map((value) => Buffer.from(value)) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 24 }).map((value) => Buffer.from(value)) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', maxLength: 8 }).map((value) => Buffer.from(value).subarray(0, -1)),
  },
  { weight: 1, arbitrary: fc.string({ minLength: 30, maxLength: 200 }).map((value) => Buffer.from(value)) },
  { weight: 1, arbitrary: anyBytes(40) },
);

const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SPECIAL_NAMES) },
  { weight: 3, arbitrary: text.map(withoutZeros) },
);

// `__proto__` at top level is a decided difference from the oracle, tested on its own.
const nestedName = fc.oneof(
  { weight: 12, arbitrary: name },
  { weight: 1, arbitrary: fc.constant('__proto__') },
);

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -100n, max: 100n }),
  fc.integer({ min: 0, max: 63 }).map((bit) => BigInt.asIntN(64, 1n << BigInt(bit))),
);

const double = fc.oneof(
  fc.double(),
  fc.double().map(Math.trunc),
  fc.integer().map((value) => value / 100),
  fc.constantFrom(-0, 2 ** 53, 2 ** 63, -(2 ** 63), 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.NaN),
);

/** Time values: in JavaScript's range, and a few beyond. */
const timeValue = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }).map(BigInt),
  },
  { weight: 8, arbitrary: fc.integer({ min: -100_000_000_000, max: 2_000_000_000_000 }).map(BigInt) },
  { weight: 1, arbitrary: fc.constantFrom(8640000000000000n, -8640000000000000n) },
);

const bytesOf = (length) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes));
const oidDigits = bytesOf(12).map((bytes) => bytes.toString('hex'));

const binary = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: 0, max: 255 }).filter((subtype) => subtype !== 2),
      anyBytes(20),
    )
    .map((parts) => payload.binary(...parts)),
  bytesOf(16).map((bytes) => payload.binary(4, bytes)),
  anyBytes(20).map((bytes) => payload.legacyBinary(bytes)),
);

/** Regular expressions of what a `RegExp` may write in another way. */
const pattern = fc
  .array(fc.constantFrom('a', '/', '\\', '[', ']', '\n', '\u2028'), { maxLength: 8 })
  .map((parts) => Buffer.from(parts.join('')));

const typed = (type, arbitrary) => arbitrary.map((bytes) => [type, bytes]);
const nothing = fc.constant(Buffer.alloc(0));

const SCALARS = [
  typed(Type.DOUBLE, double.map(payload.double)),
  typed(
    Type.STRING,
    text.map((bytes) => payload.string(bytes)),
  ),
  typed(Type.BINARY, binary),
  typed(Type.UNDEFINED, nothing),
  typed(Type.OBJECT_ID, bytesOf(12)),
  typed(Type.BOOLEAN, fc.boolean().map(payload.boolean)),
  typed(Type.DATETIME, timeValue.map(payload.datetime)),
  typed(Type.NULL, nothing),
  typed(
    Type.REGEX,
    fc
      .tuple(fc.oneof(text.map(withoutZeros), pattern), text.map(withoutZeros))
      .map((parts) => payload.regex(...parts)),
  ),
  typed(
    Type.DB_POINTER,
    fc.tuple(text, oidDigits).map((parts) => payload.dbPointer(...parts)),
  ),
  typed(
    Type.CODE,
    text.map((bytes) => payload.string(bytes)),
  ),
  typed(
    Type.SYMBOL,
    text.map((bytes) => payload.string(bytes)),
  ),
  typed(Type.INT32, fc.integer().map(payload.int32)),
  typed(Type.TIMESTAMP, bytesOf(8)),
  typed(Type.INT64, int64.map(payload.int64)),
  typed(Type.DECIMAL128, bytesOf(16)),
  typed(Type.MIN_KEY, nothing),
  typed(Type.MAX_KEY, nothing),
];

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    ...SCALARS,
    typed(
      Type.DOCUMENT,
      tie('elements').map((parts) => document(parts)),
    ),
    typed(
      Type.ARRAY,
      tie('elements').map((parts) => document(parts)),
    ),
    typed(
      Type.CODE_WITH_SCOPE,
      fc.tuple(text, tie('elements')).map(([code, parts]) => payload.codeWithScope(code, document(parts))),
    ),
  ),
  elements: fc.array(
    fc.tuple(nestedName, tie('value')).map(([key, [type, bytes]]) => element(type, key, bytes)),
    { maxLength: 6 },
  ),
}));

/** `[type, payload]` of any type. */
export const anyValue = value;

/** The elements of a document, none named `__proto__`. */
export const columns = fc.array(
  fc.tuple(name, value).map(([key, [type, bytes]]) => element(type, key, bytes)),
  { maxLength: 10 },
);
