/** `jsonExtract` against SQLite itself, which is given the JSON text of the same document. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, DateRenderMode, jsonExtract } from '../index.js';
import { document, element, int, nested, payload, string, Type, withId } from './support/bson-bytes.mjs';
import { dataMissing, listFiles, readBytes, splitDocuments } from './support/data.mjs';
import { attempt } from './support/outcome.mjs';
import { describeUnless } from './support/skip.mjs';
import { engines } from './support/sqlite.mjs';
import { inMode, LEFT_OUT, TYPE_TABLE } from './support/type-table.mjs';

const bson = createRequire(import.meta.url)('bson');
const MODE = DateRenderMode.ISO_MILLISECONDS;

/** The JSON text of a document, as a column has it. */
const jsonOf = (source) => bufferToSqlite(document([element(Type.DOCUMENT, 'd', source)]), MODE).d;

const OPERATORS = { '->': 'json', '->>': 'value' };

/** What this addon gives, or the error. */
const ours = (operator, source, path) =>
  attempt(() => jsonExtract(source, path, { as: OPERATORS[operator], mode: MODE }));

/** What some versions of SQLite read otherwise; and a NUL in a label, which is none of any element, ends it for all. */
const isReadOtherwise = (engine, path, json) =>
  (engine.isOld && (/\\|^\d/.test(path) || path === '')) ||
  (engine.endsAtNul && json.includes('\\u0000')) ||
  /\\(0|x00|u0000)/.test(path);

/** The nearest doubles. */
function isNext(a, b) {
  const [x, y] = [a, b].map((number) => new BigInt64Array(Float64Array.of(number).buffer)[0]);
  return x - y <= 1n && y - x <= 1n;
}

/** Whether both are the same, but that an old version may read a double as the next one. */
const isSame = (actual, expected, engine) =>
  Object.is(actual, expected) ||
  (engine.isOld && typeof actual === 'number' && typeof expected === 'number' && isNext(actual, expected));

/** Expects what an engine gives: its value, and a TypeError where it has an error. */
function expectAsEngine(engine, operator, source, json, path) {
  if (isReadOtherwise(engine, path, json)) return undefined;
  const expected = attempt(() => engine.extract(operator, json, path));
  const actual = ours(operator, source, path);
  const label = `${engine.title}: ${json} ${operator} ${JSON.stringify(path)}`;
  if (actual.error !== undefined) {
    if (!(actual.error instanceof TypeError)) throw actual.error;
    // SQLite reads a path no further than it finds something.
    if (expected.error === undefined) expect(expected.value, label).toBe(null);
    return undefined;
  }
  if (expected.error !== undefined) expect.fail(`${label}: no error but ${actual.value}`);
  if (!isSame(actual.value, expected.value, engine)) expect(actual.value, label).toBe(expected.value);
  return actual.value;
}

function expectAsSqlite(source, path, json = jsonOf(source)) {
  for (const engine of engines) {
    for (const operator of Object.keys(OPERATORS)) expectAsEngine(engine, operator, source, json, path);
  }
}

/** The paths to all that a JSON text has, with quoted labels, and from both ends of arrays. */
function pathsOf(value, prefix = '$') {
  if (typeof value !== 'object' || value === null) return [prefix];
  const inner = Array.isArray(value)
    ? value.flatMap((each, index) => [
        ...pathsOf(each, `${prefix}[${index}]`),
        `${prefix}[#-${value.length - index}]`,
      ])
    : Object.entries(value).flatMap(([name, each]) => pathsOf(each, `${prefix}.${JSON.stringify(name)}`));
  return [prefix, ...inner];
}

const ORDER = Buffer.from(
  bson.serialize({
    _id: new bson.ObjectId('66e834cc91d805df11fa0ecb'),
    status: 'placed "now"\n',
    total: 12.5,
    paid: true,
    none: null,
    address: { city: 'Oslo', 'zip.code': '0150' },
    items: [
      { sku: 'A-1', n: 2 },
      { sku: 'B-2', n: bson.Long.fromString('9007199254740993') },
    ],
  }),
);

describe('the two operators', () => {
  const CASES = [
    ['$.status', '"placed \\"now\\"\\n"', 'placed "now"\n'],
    ['$.total', '12.5', 12.5],
    ['$.paid', '1', 1n],
    ['$.none', 'null', null],
    ['$.absent', null, null],
    ['$._id', '"66e834cc91d805df11fa0ecb"', '66e834cc91d805df11fa0ecb'],
    ['$.address', '{"city":"Oslo","zip.code":"0150"}', '{"city":"Oslo","zip.code":"0150"}'],
    ['$.address.city', '"Oslo"', 'Oslo'],
    ['$.address."zip.code"', '"0150"', '0150'],
    ['$.items[0].sku', '"A-1"', 'A-1'],
    ['$.items[#-1].n', '9007199254740993', 9007199254740993n],
    ['$.items[2]', null, null],
    ['status', '"placed \\"now\\"\\n"', 'placed "now"\n'],
    ['address.city', null, null],
    [0, null, null],
    [-1n, null, null],
  ];
  for (const [path, json, value] of CASES) {
    it(String(path), () => {
      expect(jsonExtract(ORDER, path)).toBe(json);
      expect(jsonExtract(ORDER, path, { as: 'json' })).toBe(json);
      expect(jsonExtract(ORDER, path, { as: 'value' })).toBe(value);
      if (typeof path === 'string') expectAsSqlite(ORDER, path);
    });
  }
  it('$ is the whole document', () => {
    expect(jsonExtract(ORDER, '$')).toBe(jsonOf(ORDER));
    expect(jsonExtract(ORDER, '$', { as: 'value' })).toBe(jsonOf(ORDER));
    expect(jsonExtract(document([]), '$')).toBe('{}');
    expect(jsonExtract(Buffer.concat([ORDER, Buffer.from('behind')]), '$')).toBe(jsonOf(ORDER));
  });
  it('dates are rendered in the mode, by default with T and milliseconds', () => {
    const source = document([element(Type.DATETIME, 'd', payload.datetime(1500))]);
    const of = (options) => jsonExtract(source, '$.d', options);
    expect(of()).toBe('"1970-01-01T00:00:01.500Z"');
    expect(of({ mode: DateRenderMode.LEGACY_MILLISECONDS })).toBe('"1970-01-01 00:00:01.500Z"');
    expect(of({ mode: DateRenderMode.ISO_SECONDS, as: 'value' })).toBe('1970-01-01T00:00:01Z');
  });
  it('leave the source and what was extracted before alone', () => {
    const source = Uint8Array.from(ORDER);
    const items = jsonExtract(source, '$.items');
    source.fill(0xff);
    expect(items).toBe('[{"sku":"A-1","n":2},{"sku":"B-2","n":9007199254740993}]');
  });
});

describe('each type', () => {
  for (const entry of TYPE_TABLE) {
    it(entry.name, () => {
      const value = [entry.type, entry.payload];
      const source = withId(
        element(entry.type, 'v', entry.payload),
        element(Type.ARRAY, 'a', payload.array([value, value])),
      );
      const json = jsonOf(source);
      const inObject = inMode(entry.object, MODE);
      expect(jsonExtract(source, '$.v', { mode: MODE })).toBe(inObject === LEFT_OUT ? null : inObject);
      expect(jsonExtract(source, '$.a[#-1]', { mode: MODE })).toBe(inMode(entry.array, MODE));
      for (const path of pathsOf(JSON.parse(json))) expectAsSqlite(source, path, json);
      for (const label of ['code', 'scope', 'pattern', 'options', 'collection', 'oid', 'db', 'fields', 'x']) {
        expectAsSqlite(source, `$.v.${label}`, json);
        expectAsSqlite(source, `$.a[1].${label}.x`, json);
      }
    });
  }
});

describe('numbers', () => {
  const doubles = [
    0,
    -0,
    1,
    -1,
    0.1,
    1.5,
    1e21,
    1e20,
    123456789012345680000,
    1e-7,
    1e300,
    5e-324,
    Number.MAX_VALUE,
    2 ** 53,
    2 ** 53 + 2,
    2 ** 62,
    2 ** 63,
    -(2 ** 63),
    2 ** 64,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ];
  const int64s = [0n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)];
  it('are those of their JSON text', () => {
    for (const double of doubles) {
      const source = document([element(Type.DOUBLE, 'v', payload.double(double))]);
      expectAsSqlite(source, '$.v');
      const value = jsonExtract(source, '$.v', { as: 'value' });
      if (typeof value === 'number') expect(value).toBe(Number(jsonExtract(source, '$.v')));
      else if (value !== null) expect(value).toBe(BigInt(jsonExtract(source, '$.v')));
    }
    for (const int64 of int64s) {
      const source = document([element(Type.INT64, 'v', payload.int64(int64))]);
      expectAsSqlite(source, '$.v');
      expect(jsonExtract(source, '$.v', { as: 'value' })).toBe(int64);
    }
    const timestamp = document([element(Type.TIMESTAMP, 'v', payload.timestamp(0xffffffff, 7))]);
    expectAsSqlite(timestamp, '$.v');
    expect(jsonExtract(timestamp, '$.v', { as: 'value' })).toBe(18446744069414584000);
  });
});

describe('labels', () => {
  const NAMES = [
    '',
    'a',
    'A',
    'a.b',
    'a[0]',
    '[0]',
    '"',
    'a"b',
    '\\',
    'a\\b',
    '\n',
    '\t',
    '\x01',
    "'",
    '/',
    ' ',
    'x y',
    '$',
    '$.a',
    '#',
    '.',
    '0',
    '1',
    'é',
    '漢字',
    '😀',
    '\u2028',
    '\ufeff',
    '_',
    'constructor',
    '__proto__',
    'x'.repeat(40),
  ];
  const source = document(NAMES.map((name, index) => int(name, index)));
  it('quoted find every name', () => {
    NAMES.forEach((name, index) => {
      const path = `$.${JSON.stringify(name)}`;
      expect(jsonExtract(source, path, { as: 'value' }), path).toBe(BigInt(index));
      expectAsSqlite(source, path);
    });
  });
  it('as they are, and by themselves, mean what they mean for SQLite', () => {
    for (const name of NAMES) {
      expectAsSqlite(source, `$.${name}`);
      expectAsSqlite(source, name);
      expectAsSqlite(source, `$."${name}"`);
    }
  });
  it('have the escapes that SQLite knows', () => {
    for (const escaped of [
      '\\"',
      '\\\\',
      '\\/',
      '\\n',
      '\\t',
      '\\u00e9',
      '\\u00E9',
      '\\ud83d\\ude00',
      '\\u0041',
      '\\x41',
      "\\'",
      '\\v',
      '\\q',
      '\\u41',
      '\\ud83d',
      '\\x4',
      'a\\u0022b',
      '\\u6f22\\u5b57',
      '\\\n',
      '\\\r\n',
      '\\\u2028',
    ]) {
      expectAsSqlite(source, `$."${escaped}"`);
    }
    expect(jsonExtract(source, '$."\\x41"', { as: 'value' })).toBe(2n);
    expect(jsonExtract(source, '$."\\ud83d\\ude00"', { as: 'value' })).toBe(25n);
    expect(jsonExtract(source, '$."\\q"')).toBe(null);
  });
  it('that stand twice: the first one that JSON has', () => {
    const twice = document([
      element(Type.UNDEFINED, 'a'),
      nested('a', int('x', 1)),
      nested('a', int('y', 2)),
      int('b', 3),
      string('b', 'second'),
    ]);
    for (const path of ['$.a', '$.a.x', '$.a.y', '$.b', 'a']) expectAsSqlite(twice, path);
    expect(jsonExtract(twice, '$.a')).toBe('{"x":1}');
    expect(jsonExtract(twice, '$.a.y')).toBe(null);
    expect(jsonExtract(twice, '$.b')).toBe('3');
  });
  it('of ill-formed names have replacement characters', () => {
    const illFormed = document([int([0x61, 0xff], 1), int('a', 2)]);
    expectAsSqlite(illFormed, '$.a\ufffd');
    expect(jsonExtract(illFormed, '$.a\ufffd')).toBe('1');
  });
});

describe('positions', () => {
  const array = payload.array([1, 2, 3].map((number) => [Type.INT32, payload.int32(number)]));
  const source = document([element(Type.ARRAY, 'a', array), element(Type.ARRAY, 'e', payload.array([]))]);
  it('count from both ends', () => {
    const steps = [
      '[0]',
      '[2]',
      '[3]',
      '[#]',
      '[#-0]',
      '[#-1]',
      '[#-3]',
      '[#-4]',
      '[00]',
      '[02]',
      '[99999999999999999999]',
    ];
    for (const step of [...steps, '[#-99999999999999999999]']) {
      expectAsSqlite(source, `$.a${step}`);
      expectAsSqlite(source, `$.e${step}`);
      expectAsSqlite(source, `$${step}`);
      expectAsSqlite(source, step);
    }
    expect(jsonExtract(source, '$.a[#-1]', { as: 'value' })).toBe(3n);
    expect(jsonExtract(source, '$.a[4294967296]')).toBe(null);
  });
  it('ignore the keys of the array', () => {
    const keys = document([element(Type.ARRAY, 'a', document([int('5', 1), int('x', 2), int('0', 3)]))]);
    for (const step of ['[0]', '[1]', '[#-1]', '[5]']) expectAsSqlite(keys, `$.a${step}`);
    expect(jsonExtract(keys, '$.a[0]')).toBe('1');
  });
});

const trees = fc.letrec((tie) => {
  const scalar = fc.oneof(
    fc.integer().map((number) => [Type.INT32, payload.int32(number)]),
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((number) => [Type.INT64, payload.int64(number)]),
    fc.double().map((number) => [Type.DOUBLE, payload.double(number)]),
    fc.string({ unit: 'binary', maxLength: 8 }).map((text) => [Type.STRING, payload.string(text)]),
    fc.constantFrom(-0, 1e300, 5e-324, 2 ** 60, 0.1).map((number) => [Type.DOUBLE, payload.double(number)]),
    fc.constantFrom('a"b\\c\n\0\u001f/', '', '😀').map((text) => [Type.STRING, payload.string(text)]),
    fc.boolean().map((boolean) => [Type.BOOLEAN, payload.boolean(boolean)]),
    fc.constantFrom(
      [Type.NULL, Buffer.alloc(0)],
      [Type.UNDEFINED, Buffer.alloc(0)],
      [Type.BINARY, payload.binary(0, [1])],
    ),
  );
  const name = fc.constantFrom('a', 'b', 'a', '', 'a.b', 'a"b', 'b[0]', '\\', '0', '\n', '__proto__', 'é');
  return {
    value: fc.oneof(
      { maxDepth: 6, depthSize: 'medium' },
      scalar,
      tie('document').map((bytes) => [Type.DOCUMENT, bytes]),
      fc.array(tie('value'), { maxLength: 4 }).map((values) => [Type.ARRAY, payload.array(values)]),
    ),
    document: fc
      .array(fc.tuple(name, tie('value')), { maxLength: 5 })
      .map((parts) => document(parts.map(([key, [type, bytes]]) => element(type, key, bytes)))),
  };
}).document;

const wildPath = fc
  .tuple(
    fc.constantFrom('$', '$', '$', ''),
    fc.array(
      fc.constantFrom(
        '.',
        'a',
        'b',
        '"',
        '[',
        ']',
        '0',
        '1',
        '#',
        '#-1',
        '-',
        '\\',
        '.a',
        '."a"',
        '[0]',
        '[#-1]',
        '.b',
        ' ',
        '$',
        'é',
      ),
      { maxLength: 7 },
    ),
  )
  .map(([first, rest]) => first + rest.join(''));

describe('generated documents', () => {
  it('at every path that they have', () => {
    let found = 0;
    fc.assert(
      fc.property(trees, (source) => {
        const json = jsonOf(source);
        for (const path of pathsOf(JSON.parse(json)).slice(0, 60)) {
          expectAsSqlite(source, path, json);
          if (jsonExtract(source, path) !== null) found++;
        }
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(1000);
  });

  it('at paths of all kinds', () => {
    let found = 0;
    fc.assert(
      fc.property(trees, fc.array(wildPath, { minLength: 10, maxLength: 10 }), (source, paths) => {
        const json = jsonOf(source);
        for (const path of paths) {
          expectAsSqlite(source, path, json);
          if (ours('->', source, path).value) found++;
        }
      }),
      { numRuns: 1000 },
    );
    expect(found).toBeGreaterThan(100);
  });
});

describeUnless(dataMissing, 'real documents, at every path that they have', () => {
  const files = listFiles('datasets', '.bson', '.bson.gz').concat(
    listFiles('dumps', '.bson', '.bson.gz').slice(0, 20),
  );
  for (const name of files) {
    it(name, () => {
      for (const source of splitDocuments(readBytes(name)).documents.slice(0, 40)) {
        const json = attempt(() => jsonOf(source));
        // Too deep, or damaged on purpose.
        if (json.error !== undefined) continue;
        for (const path of pathsOf(JSON.parse(json.value)).slice(0, 100))
          expectAsSqlite(source, path, json.value);
      }
    });
  }
});

describe('malformed paths are a TypeError that quotes them', () => {
  const PATHS = [
    '$.',
    '$..a',
    '$a',
    '$ ',
    '$.a.',
    '$[',
    '$[]',
    '$[a]',
    '$[-1]',
    '$[ 0]',
    '$[0',
    '$.items[0]x',
    '$[#1]',
    '$[#-]',
    '$.items[1]]',
    '$."',
    '$."a',
    '$."a"b',
    '[a]',
    '"a"',
    'a"b',
    '$.none.x[',
    '',
    'a\0',
    '$.\ud800',
  ];
  for (const path of PATHS) {
    it(JSON.stringify(path), () => {
      const { error } = attempt(() => jsonExtract(ORDER, path));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.code).toBe('BSONROW_INVALID_ARGUMENT');
      expect(error.message).toContain(`path ${JSON.stringify(path)} is no path into JSON`);
    });
  }
  it('whatever SQLite has an error for is among them', () => {
    for (const engine of engines) {
      for (const path of PATHS.filter(
        (each) => !/[\0\ud800]/.test(each) && !isReadOtherwise(engine, each, ''),
      )) {
        const { value, error } = attempt(() => engine.extract('->', jsonOf(ORDER), path));
        if (error === undefined) expect(value, `${engine.title} ${path}`).toBe(null);
      }
    }
  });
  it('and so is what is no path', () => {
    for (const path of [
      undefined,
      null,
      0.5,
      Number.NaN,
      2 ** 60,
      {},
      [],
      ['a'],
      true,
      Symbol('a'),
      () => 'a',
    ]) {
      const { error } = attempt(() => jsonExtract(ORDER, path));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(
        /^path .* is no path into JSON, it is neither a string nor a safe integer$/,
      );
    }
  });
});

describe('other arguments', () => {
  it('options that are none', () => {
    for (const [options, word] of [
      [null, 'options'],
      [5, 'options'],
      [{ as: 'text' }, 'as'],
      [{ as: null }, 'as'],
      [{ mode: 3 }, 'options.mode'],
      [{ mode: '1' }, 'options.mode'],
      [{ other: 1 }, 'other'],
    ]) {
      const { error } = attempt(() => jsonExtract(ORDER, '$', options));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(new RegExp(`\\b${word}\\b`));
    }
    expect(jsonExtract(ORDER, '$.total', { as: undefined, mode: undefined })).toBe('12.5');
  });
  it('a source that is none', () => {
    for (const source of [undefined, null, 'abc', [5, 0, 0, 0, 0], new ArrayBuffer(5), new Uint16Array(5)]) {
      const { error } = attempt(() => jsonExtract(source, '$'));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/\bsource\b/);
    }
  });
  it('a source of shared memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(ORDER.length));
    shared.set(ORDER);
    expect(jsonExtract(shared, '$.items[0]')).toBe('{"sku":"A-1","n":2}');
  });
});

describe('malformed BSON', () => {
  const bad = document([
    element(
      Type.DOCUMENT,
      'o',
      document([int('x', 1), element(Type.DOCUMENT, 'p', document([element(0x99, 'y')]))]),
    ),
    int('z', 2),
  ]);
  it('is an error where it is on the way, with its place', () => {
    for (const path of ['$', '$.o', '$.o.p', '$.o.p.y', '$.o.p.q']) {
      const { error } = attempt(() => jsonExtract(bad, path));
      expect(error.message).toBe('Unsupported BSON nested type: 0x99');
      expect([error.code, error.path]).toEqual(['BSONROW_NESTED_TYPE', ['o', 'p', 'y']]);
      expect(error.offset).toBe(bad.indexOf(0x99));
    }
  });
  it('is not looked at elsewhere', () => {
    expect(jsonExtract(bad, '$.z')).toBe('2');
    expect(jsonExtract(bad, '$.o.x')).toBe('1');
  });
  it('changed at any byte ends in a value or an error', () => {
    for (let offset = 0; offset < ORDER.length; offset++) {
      for (const byte of [0x00, 0x05, 0x7f, 0xff]) {
        const bytes = Uint8Array.from(ORDER);
        bytes[offset] = byte;
        for (const path of ['$', '$.items[#-1].sku', '$.address.x']) {
          const { error } = attempt(() => jsonExtract(bytes, path));
          if (error !== undefined && !/^BSONROW_/.test(error.code)) throw error;
        }
      }
    }
  });
  it('nested deeper than 20 levels below what is extracted', () => {
    let deep = document([int('x', 1)]);
    for (let level = 0; level < 30; level++) deep = document([element(Type.DOCUMENT, 'd', deep)]);
    expect(() => jsonExtract(deep, '$')).toThrow('json nested object depth exceeds the limit of 20');
    expect(jsonExtract(deep, `$${'.d'.repeat(30)}`)).toBe('{"x":1}');
    expect(jsonExtract(deep, `$${'.d'.repeat(10)}`)).toBe(`${'{"d":'.repeat(20)}{"x":1}${'}'.repeat(20)}`);
  });
});
