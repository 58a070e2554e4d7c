/**
 * The conversion contract as one table: element type × value × place × date render mode, with every expected value
 * written out. Whatever makes rows (a JavaScript object, MessagePack, a batch) is tested against this table.
 *
 * An entry is `{ name, type, payload, column, object, array }`: the column value at top level, and the JSON text
 * inside an object and inside an array. `LEFT_OUT` says that an object leaves out the name. A value that depends on
 * the date render mode is a `perMode` of three.
 */
import { document, element, hex, payload, Type } from './bson-bytes.mjs';

/** The element is not written at all. */
export const LEFT_OUT = Symbol('left out');

class PerMode {
  constructor(values) {
    this.values = values;
  }
}

/** Values in the order of `DateRenderMode`: legacy milliseconds, ISO milliseconds, ISO seconds. */
const perMode = (...values) => new PerMode(values);

/** An expected value of an entry in a render mode. */
export const inMode = (expected, mode) => (expected instanceof PerMode ? expected.values[mode] : expected);

const entry = (typeName, name, bytes, column, object, array = object) => ({
  name: `${typeName} ${name}`,
  type: Type[typeName],
  payload: Buffer.from(bytes),
  column,
  object,
  array,
});

const double = (value, column, json) =>
  entry('DOUBLE', Object.is(value, -0) ? '-0' : String(value), payload.double(value), column, json);
const string = (name, bytes, column, json) => entry('STRING', name, payload.string(bytes), column, json);
const symbol = (name, bytes, column, json) => entry('SYMBOL', name, payload.string(bytes), column, json);
const blob = (name, bytes, column) => entry('BINARY', name, bytes, Uint8Array.from(column), LEFT_OUT, 'null');
const date = (ms, legacy, iso, seconds) =>
  entry(
    'DATETIME',
    `${ms} ms`,
    payload.datetime(ms),
    perMode(legacy, iso, seconds),
    perMode(`"${legacy}"`, `"${iso}"`, `"${seconds}"`),
  );
const json = (typeName, name, bytes, text) => entry(typeName, name, bytes, text, text);
const decimal = (name, digits, text) => entry('DECIMAL128', name, hex(digits).reverse(), text, `"${text}"`);

const OID = '0123456789abcdef01234567';
const UUID_BYTES = hex('00112233445566778899AABBCCDDEEFF');
const one = [Type.INT32, payload.int32(1)];

export const TYPE_TABLE = [
  double(1.5, 1.5, '1.5'),
  double(1, 1n, '1'),
  double(-1, -1n, '-1'),
  double(0, 0n, '0'),
  double(-0, 0n, '0'),
  double(0.1, 0.1, '0.1'),
  double(0.1 + 0.2, 0.30000000000000004, '0.30000000000000004'),
  double(1e20, 100000000000000000000n, '100000000000000000000'),
  double(1e21, 1000000000000000000000n, '1e+21'),
  double(123456789012345680000, 123456789012345683968n, '123456789012345680000'),
  double(2 ** 53, 9007199254740992n, '9007199254740992'),
  double(2 ** 63, 9223372036854775808n, '9223372036854776000'),
  double(-(2 ** 63), -9223372036854775808n, '-9223372036854776000'),
  double(2 ** 64, 18446744073709551616n, '18446744073709552000'),
  double(1e-6, 0.000001, '0.000001'),
  double(1e-7, 1e-7, '1e-7'),
  double(-1.25e-9, -1.25e-9, '-1.25e-9'),
  double(5e-324, 5e-324, '5e-324'),
  double(2.2250738585072014e-308, 2.2250738585072014e-308, '2.2250738585072014e-308'),
  double(1.7976931348623157e308, 2n ** 1024n - 2n ** 971n, '1.7976931348623157e+308'),
  double(Number.NaN, Number.NaN, 'null'),
  double(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 'null'),
  double(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 'null'),

  string('empty', '', '', '""'),
  string('ASCII', 'hello', 'hello', '"hello"'),
  string('Latin', 'é', 'é', '"é"'),
  string('Cyrillic', 'привет', 'привет', '"привет"'),
  string('CJK', '漢字', '漢字', '"漢字"'),
  string('emoji', '😀', '😀', '"😀"'),
  string('NUL', 'a\0b', 'a\0b', '"a\\u0000b"'),
  string('escapes', '"\\\b\t\n\f\r', '"\\\b\t\n\f\r', '"\\"\\\\\\b\\t\\n\\f\\r"'),
  string('control bytes', '\x01\x1f', '\x01\x1f', '"\\u0001\\u001f"'),
  string('verbatim', '/\x7f\u2028\u2029', '/\x7f\u2028\u2029', '"/\x7f\u2028\u2029"'),
  string('BOM', '\ufeffx', '\ufeffx', '"\ufeffx"'),
  string('U+FFFD itself', '\ufffd', '\ufffd', '"\ufffd"'),
  string('ill-formed', hex('61 ff 62'), 'a\ufffdb', '"a\ufffdb"'),
  string('surrogate bytes', hex('ed a0 bd'), '\ufffd\ufffd\ufffd', '"\ufffd\ufffd\ufffd"'),
  symbol('empty', '', '', '""'),
  symbol('ASCII', 'sym', 'sym', '"sym"'),
  symbol('quote', '"é', '"é', '"\\"é"'),
  symbol('ill-formed', hex('e9'), '\ufffd', '"\ufffd"'),

  json('DOCUMENT', 'empty', document([]), '{}'),
  json('DOCUMENT', 'one element', document([element(Type.INT32, 'a', payload.int32(1))]), '{"a":1}'),
  json(
    'DOCUMENT',
    'repeated and odd names',
    document([
      element(Type.NULL, ''),
      element(Type.INT32, 'a.b', payload.int32(1)),
      element(Type.INT32, '$oid', payload.int32(2)),
      element(Type.INT32, '__proto__', payload.int32(3)),
      element(Type.INT32, '$oid', payload.int32(4)),
      element(Type.INT32, '"\\\n\x01é', payload.int32(5)),
    ]),
    '{"":null,"a.b":1,"$oid":2,"__proto__":3,"$oid":4,"\\"\\\\\\n\\u0001é":5}',
  ),
  json(
    'DOCUMENT',
    'left-out elements first, between and last',
    document([
      element(Type.UNDEFINED, 'u'),
      element(Type.INT32, 'a', payload.int32(1)),
      element(Type.BINARY, 'b', payload.binary(0, 'x')),
      element(Type.INT32, 'c', payload.int32(2)),
      element(Type.UNDEFINED, 'v'),
    ]),
    '{"a":1,"c":2}',
  ),
  json('DOCUMENT', 'only left-out elements', document([element(Type.UNDEFINED, 'u')]), '{}'),
  json(
    'DOCUMENT',
    'shaped like a DBRef',
    document([
      element(Type.STRING, '$ref', payload.string('c')),
      element(Type.OBJECT_ID, '$id', payload.objectId(OID)),
      element(Type.STRING, '$db', payload.string('d')),
      element(Type.INT32, 'foo', payload.int32(1)),
    ]),
    `{"$ref":"c","$id":"${OID}","$db":"d","foo":1}`,
  ),
  json('ARRAY', 'empty', payload.array([]), '[]'),
  json('ARRAY', 'two', payload.array([one, one]), '[1,1]'),
  json('ARRAY', 'nulls for what objects leave out', payload.array([[Type.UNDEFINED, []], one]), '[null,1]'),
  json(
    'ARRAY',
    'any keys, byte order',
    document([
      element(Type.INT32, '5', payload.int32(1)),
      element(Type.INT32, '', payload.int32(2)),
      element(Type.INT32, 'ab', payload.int32(3)),
      element(Type.INT32, '5', payload.int32(4)),
    ]),
    '[1,2,3,4]',
  ),
  json(
    'ARRAY',
    'of array and document',
    payload.array([
      [Type.ARRAY, payload.array([one])],
      [Type.DOCUMENT, document([])],
    ]),
    '[[1],{}]',
  ),

  blob('generic', payload.binary(0, [1, 2, 255]), [1, 2, 255]),
  blob('empty', payload.binary(0, []), []),
  blob('function', payload.binary(1, [1]), [1]),
  blob('subtype 2', payload.legacyBinary([1, 2, 3]), [1, 2, 3]),
  blob('subtype 2, empty', payload.legacyBinary([]), []),
  blob('subtype 2, inner length shorter', payload.legacyBinary([1, 2, 3], { innerLength: 2 }), [1, 2]),
  blob('subtype 3', payload.binary(3, UUID_BYTES), [...UUID_BYTES]),
  entry(
    'BINARY',
    'UUID',
    payload.binary(4, UUID_BYTES),
    '00112233-4455-6677-8899-aabbccddeeff',
    '"00112233-4455-6677-8899-aabbccddeeff"',
  ),
  blob('subtype 4, 0 bytes', payload.binary(4, []), []),
  blob('subtype 4, 1 byte', payload.binary(4, [7]), [7]),
  blob('subtype 4, 15 bytes', payload.binary(4, UUID_BYTES.subarray(1)), [...UUID_BYTES.subarray(1)]),
  blob('subtype 4, 17 bytes', payload.binary(4, [...UUID_BYTES, 9]), [...UUID_BYTES, 9]),
  ...[5, 6, 7, 8, 0x80, 0xff].map((subtype) =>
    blob(`subtype ${subtype}`, payload.binary(subtype, UUID_BYTES), [...UUID_BYTES]),
  ),
  ...[[], [3], [3, 0], [3, 0, 127], [0x27, 0, 0, 0, 0x80, 0x3f], [0x10, 9, 1]].map((bytes) =>
    blob(`vector of ${bytes.length} bytes`, payload.binary(9, bytes), bytes),
  ),

  entry('UNDEFINED', '', [], null, LEFT_OUT, 'null'),
  entry('NULL', '', [], null, 'null'),
  entry('MIN_KEY', '', [], null, 'null'),
  entry('MAX_KEY', '', [], null, 'null'),

  entry('OBJECT_ID', 'mixed', payload.objectId(OID), OID, `"${OID}"`),
  entry('OBJECT_ID', 'zeros', Buffer.alloc(12), '0'.repeat(24), `"${'0'.repeat(24)}"`),
  entry('OBJECT_ID', 'ones', Buffer.alloc(12, 0xff), 'f'.repeat(24), `"${'f'.repeat(24)}"`),

  entry('BOOLEAN', 'true', [1], 1n, '1'),
  entry('BOOLEAN', 'false', [0], 0n, '0'),
  entry('BOOLEAN', '2', [2], 1n, '1'),
  entry('BOOLEAN', '255', [255], 1n, '1'),

  date(0n, '1970-01-01 00:00:00.000Z', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00Z'),
  date(1678110420000n, '2023-03-06 13:47:00.000Z', '2023-03-06T13:47:00.000Z', '2023-03-06T13:47:00Z'),
  date(1678110420999n, '2023-03-06 13:47:00.999Z', '2023-03-06T13:47:00.999Z', '2023-03-06T13:47:00Z'),
  date(951782400000n, '2000-02-29 00:00:00.000Z', '2000-02-29T00:00:00.000Z', '2000-02-29T00:00:00Z'),
  date(-1n, '1969-12-31 23:59:59.999Z', '1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59Z'),
  date(-62167219200000n, '0000-01-01 00:00:00.000Z', '0000-01-01T00:00:00.000Z', '0000-01-01T00:00:00Z'),
  date(
    -62167219200001n,
    '-000001-12-31 23:59:59.999Z',
    '-000001-12-31T23:59:59.999Z',
    '-000001-12-31T23:59:59Z',
  ),
  date(253402300799999n, '9999-12-31 23:59:59.999Z', '9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59Z'),
  date(
    253402300800000n,
    '+010000-01-01 00:00:00.000Z',
    '+010000-01-01T00:00:00.000Z',
    '+010000-01-01T00:00:00Z',
  ),
  date(
    8640000000000000n,
    '+275760-09-13 00:00:00.000Z',
    '+275760-09-13T00:00:00.000Z',
    '+275760-09-13T00:00:00Z',
  ),
  date(
    -8640000000000000n,
    '-271821-04-20 00:00:00.000Z',
    '-271821-04-20T00:00:00.000Z',
    '-271821-04-20T00:00:00Z',
  ),

  json('REGEX', 'plain', payload.regex('a.b', 'i'), '{"pattern":"a.b","options":"i"}'),
  json('REGEX', 'empty', payload.regex('', ''), '{"pattern":"","options":""}'),
  json('REGEX', 'options verbatim', payload.regex('x', 'xim'), '{"pattern":"x","options":"xim"}'),
  json('REGEX', 'unknown options', payload.regex('x', 'iiz'), '{"pattern":"x","options":"iiz"}'),
  json('REGEX', 'escapes', payload.regex('\\d"/\n', 'é'), '{"pattern":"\\\\d\\"/\\n","options":"é"}'),
  json('REGEX', 'no JavaScript pattern', payload.regex('(?<n', ''), '{"pattern":"(?<n","options":""}'),
  json('REGEX', 'ill-formed', payload.regex([0xff], [0xfe]), '{"pattern":"\ufffd","options":"\ufffd"}'),

  json(
    'DB_POINTER',
    'database and collection',
    payload.dbPointer('mydb.coll', OID),
    `{"collection":"coll","oid":"${OID}","db":"mydb","fields":{}}`,
  ),
  json(
    'DB_POINTER',
    'split at the first dot',
    payload.dbPointer('a.b.c', OID),
    `{"collection":"b.c","oid":"${OID}","db":"a","fields":{}}`,
  ),
  json(
    'DB_POINTER',
    'no dot',
    payload.dbPointer('coll', OID),
    `{"collection":"coll","oid":"${OID}","fields":{}}`,
  ),
  json(
    'DB_POINTER',
    'empty name',
    payload.dbPointer('', OID),
    `{"collection":"","oid":"${OID}","fields":{}}`,
  ),
  json(
    'DB_POINTER',
    'leading dot',
    payload.dbPointer('.x', OID),
    `{"collection":"x","oid":"${OID}","db":"","fields":{}}`,
  ),
  json(
    'DB_POINTER',
    'trailing dot',
    payload.dbPointer('x.', OID),
    `{"collection":"","oid":"${OID}","db":"x","fields":{}}`,
  ),
  json(
    'DB_POINTER',
    'escapes and ill-formed',
    payload.dbPointer([0x22, 0x2e, 0xff], OID),
    `{"collection":"\ufffd","oid":"${OID}","db":"\\"","fields":{}}`,
  ),

  json('CODE', 'plain', payload.string('f()'), '{"code":"f()","scope":null}'),
  json('CODE', 'empty', payload.string(''), '{"code":"","scope":null}'),
  json('CODE', 'escapes', payload.string('"\n\0'), '{"code":"\\"\\n\\u0000","scope":null}'),
  json('CODE', 'ill-formed', payload.string([0xff]), '{"code":"\ufffd","scope":null}'),
  json(
    'CODE_WITH_SCOPE',
    'one variable',
    payload.codeWithScope('f', document([element(Type.INT32, 'x', payload.int32(1))])),
    '{"code":"f","scope":{"x":1}}',
  ),
  json('CODE_WITH_SCOPE', 'empty scope', payload.codeWithScope('', document([])), '{"code":"","scope":{}}'),
  json(
    'CODE_WITH_SCOPE',
    'scope with left-out and nested elements',
    payload.codeWithScope(
      '"',
      document([
        element(Type.UNDEFINED, 'u'),
        element(Type.DOCUMENT, 'd', document([element(Type.BINARY, 'b', payload.binary(0, []))])),
        element(Type.ARRAY, 'a', payload.array([[Type.BINARY, payload.binary(0, [])]])),
      ]),
    ),
    '{"code":"\\"","scope":{"d":{},"a":[null]}}',
  ),

  ...[0, 1, -1, 2147483647, -2147483648].map((value) =>
    entry('INT32', String(value), payload.int32(value), BigInt(value), String(value)),
  ),
  ...[0n, 1n, -1n, 2147483648n, 9007199254740993n, -9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)].map(
    (value) => entry('INT64', String(value), payload.int64(value), value, String(value)),
  ),
  entry('TIMESTAMP', 'zero', payload.timestamp(0, 0), 0n, '0'),
  entry('TIMESTAMP', '1, 2', payload.timestamp(1, 2), 4294967298n, '4294967298'),
  entry(
    'TIMESTAMP',
    'top bit',
    payload.timestamp(0x80000000, 0),
    9223372036854775808n,
    '9223372036854775808',
  ),
  entry(
    'TIMESTAMP',
    'largest',
    payload.timestamp(0xffffffff, 0xffffffff),
    18446744073709551615n,
    '18446744073709551615',
  ),

  decimal('0', '3040 0000000000000000000000000000', '0'),
  decimal('-0', 'b040 0000000000000000000000000000', '-0'),
  decimal('0E+3', '3046 0000000000000000000000000000', '0E+3'),
  decimal('1.50', '303c 0000000000000000000000000096', '1.50'),
  decimal('-1', 'b040 0000000000000000000000000001', '-1'),
  decimal('1E-6176', '0000 0000000000000000000000000001', '1E-6176'),
  decimal('0.000001', '3034 0000000000000000000000000001', '0.000001'),
  decimal('1E-7', '3032 0000000000000000000000000001', '1E-7'),
  decimal('largest', '5fff ed09bead87c0378d8e63ffffffff', '9.999999999999999999999999999999999E+6144'),
  decimal('34 digits', '3041 ed09bead87c0378d8e63ffffffff', '9999999999999999999999999999999999'),
  decimal('NaN', '7c00 0000000000000000000000000000', 'NaN'),
  decimal('NaN with a payload', 'fc00 0000000000000000000000000012', 'NaN'),
  decimal('Infinity', '7800 0000000000000000000000000000', 'Infinity'),
  decimal('-Infinity', 'f800 0000000000000000000000000000', '-Infinity'),
];
