/**
 * The option `columns`: a row of some columns is the whole row without the others; a row of paths has at each what its
 * element would be as a column; what is not selected is not looked at.
 */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, DateRenderMode, NativeSourceRowConverter } from '../index.js';
import { columns as anyColumns } from './support/arbitrary.mjs';
import { document, element, int, nested, payload, string, Type } from './support/bson-bytes.mjs';
import { dataMissing, listFiles, readBytes, splitDocuments } from './support/data.mjs';
import { documentWithId } from './support/events.mjs';
import { splitElements } from './support/model.mjs';
import { attempt, expectRow, expectSame } from './support/outcome.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { describeUnless } from './support/skip.mjs';
import { timeRatio } from './support/time-ratio.mjs';
import { inMode, TYPE_TABLE } from './support/type-table.mjs';

const bson = createRequire(import.meta.url)('bson');
const MODE = DateRenderMode.ISO_MILLISECONDS;
const whole = new NativeSourceRowConverter(MODE);
const selecting = (columns, options) => new NativeSourceRowConverter(MODE, { columns, ...options });

/** Of a row those columns, in its order. */
const only = (row, names) => {
  const kept = {};
  for (const name of Object.keys(row)) {
    if (names.includes(name)) Object.defineProperty(kept, name, Object.getOwnPropertyDescriptor(row, name));
  }
  return kept;
};

const array = (name, ...values) => element(Type.ARRAY, name, payload.array(values));
const number = (value) => [Type.INT32, payload.int32(value)];

const ORDER = Buffer.from(
  bson.serialize({
    _id: new bson.ObjectId('66e834cc91d805df11fa0ecb'),
    status: 'placed',
    total: 12.5,
    address: { city: 'Oslo', lines: ['a', 'b'] },
    items: [
      { sku: 'A-1', n: 2 },
      { sku: 'B-2', n: 1 },
    ],
  }),
);

describe('an array of names', () => {
  it('keeps those columns in the order of the document', () => {
    const { row, replicaId } = selecting(['total', '_id', 'items', 'absent']).rawToSqliteRow(ORDER);
    expectRow(row, {
      _id: '66e834cc91d805df11fa0ecb',
      total: 12.5,
      items: '[{"sku":"A-1","n":2},{"sku":"B-2","n":1}]',
    });
    expect(replicaId).toStrictEqual(new bson.ObjectId('66e834cc91d805df11fa0ecb'));
  });

  it('leaves an empty row where the document has none of them', () => {
    expect(selecting(['absent']).rawToSqliteRow(ORDER)).toStrictEqual({
      row: {},
      replicaId: new bson.ObjectId('66e834cc91d805df11fa0ecb'),
    });
  });

  it('takes the first _id for the identity although it is not selected', () => {
    const source = document([int('a', 1), int('_id', 2), int('_id', 3)]);
    expect(selecting(['a']).rawToSqliteRow(source)).toStrictEqual({ row: { a: 1n }, replicaId: 2 });
    expect(selecting(['_id']).rawToSqliteRow(source)).toStrictEqual({ row: { _id: 3n }, replicaId: 2 });
    expect(() => selecting(['a']).rawToSqliteRow(document([int('a', 1)]))).toThrow(
      'Attempt to parse document without _id',
    );
  });

  it('keeps the first place and the last value of a repeated name', () => {
    const source = document([int('_id', 1), int('a', 2), int('b', 3), string('a', 'last'), int('c', 4)]);
    expectRow(selecting(['a', 'c']).rawToSqliteRow(source).row, { a: 'last', c: 4n });
  });

  it('compares names as they are', () => {
    const names = ['a.b', 'a', '$a', '__proto__', 'constructor', 'é', '1', ' a', 'A', 'x'.repeat(40)];
    const source = document([int('_id', 1), ...names.map((name, index) => int(name, index))]);
    const { row } = whole.rawToSqliteRow(source);
    for (const name of names)
      expectRow(selecting([name]).rawToSqliteRow(source).row, only(row, [name]), name);
  });

  it('selects a name that is ill-formed by what it is read as', () => {
    const source = document([int('_id', 1), int([0x61, 0xff], 2), int('b', 3)]);
    expectRow(selecting(['a\ufffd']).rawToSqliteRow(source).row, { 'a\ufffd': 2n });
    expectRow(selecting({ c: 'a\ufffd' }).rawToSqliteRow(source).row, { c: 2n });
    expectRow(selecting(['a']).rawToSqliteRow(source).row, {});
  });

  it('finds names in lists of any length', () => {
    const names = Array.from({ length: 450 }, (_, index) => `column ${index % 7} ${index}`);
    const source = document([int('_id', 1), ...names.map((name, index) => int(name, index))]);
    const { row } = whole.rawToSqliteRow(source);
    for (const count of [1, 8, 9, 200, 450]) {
      const some = names.slice(-count);
      const converter = selecting([...some].reverse());
      for (let round = 0; round < 3; round++) {
        expectRow(converter.rawToSqliteRow(source).row, only(row, some), `${count} names`);
      }
    }
  });

  it('is not taken from what other converters have seen', () => {
    // Converters share the sequences of names that were seen: here each continues where another's ends.
    const sources = [
      [int('_id', 1), int('a', 1), int('c', 3)],
      [int('_id', 1), int('a', 1), int('b', 2), int('c', 3)],
      [int('_id', 1), int('b', 2)],
    ].map((parts) => document(parts));
    const lists = [['_id', 'a', 'c'], ['a', 'c'], ['b'], ['_id', 'a', 'b', 'c'], ['c', 'b']];
    const converters = lists.map((list) => [list, selecting(list)]);
    for (let round = 0; round < 4; round++) {
      for (const source of sources) {
        const { row } = whole.rawToSqliteRow(source);
        for (const [list, converter] of converters) {
          expectRow(converter.rawToSqliteRow(source).row, only(row, list), `${list}`);
        }
      }
    }
  });

  it('gives of any document the row without the other columns', () => {
    const parameters = fc.tuple(documentWithId, fc.nat(), fc.boolean());
    fc.assert(
      fc.property(parameters, ([source, bits, takesOthers]) => {
        const expected = attempt(() => whole.rawToSqliteRow(source));
        if (expected.error !== undefined) return;
        const { row, replicaId } = expected.value;
        const some = Object.keys(row).filter((name, index) => name !== '' && (bits >> (index % 31)) & 1);
        const names = takesOthers || some.length === 0 ? [...some, 'no such column'] : some;
        const result = selecting(names).rawToSqliteRow(source);
        expectRow(result.row, only(row, some));
        expectSame(result.replicaId, replicaId);
      }),
      { numRuns: 1000 },
    );
  });

  describeUnless(dataMissing, 'on real data', () => {
    for (const name of listFiles('datasets', '.bson', '.bson.gz').slice(0, 6)) {
      it(name, () => {
        const documents = splitDocuments(readBytes(name)).documents.slice(0, 300);
        const [first] = documents;
        const names = Object.keys(bufferToSqlite(first, MODE)).filter((_, index) => index % 3 !== 1);
        const converter = selecting(names);
        for (const source of documents) {
          const expected = attempt(() => whole.rawToSqliteRow(source).row);
          if (expected.error === undefined) {
            expectRow(converter.rawToSqliteRow(source).row, only(expected.value, names));
          }
        }
      });
    }
  });
});

/** The last element of a name, or that at a position, of a document's or array's bytes. */
function childOf(type, bytes, segment) {
  const elements = splitElements(bytes).map((part) => {
    const nameEnd = part.indexOf(0, 1);
    return { name: part.toString('latin1', 1, nameEnd), type: part[0], bytes: part.subarray(nameEnd + 1) };
  });
  const name = Buffer.from(segment).toString('latin1');
  if (type === Type.DOCUMENT) return elements.findLast((each) => each.name === name);
  return /^(0|[1-9]\d*)$/.test(segment) ? elements[Number(segment)] : undefined;
}

/** What the column of a path has to be, read plainly. */
function valueAt(source, path) {
  let found = { type: Type.DOCUMENT, bytes: source };
  for (const segment of path.split('.')) {
    if (found?.type !== Type.DOCUMENT && found?.type !== Type.ARRAY) return null;
    found = childOf(found.type, found.bytes, segment);
  }
  return found === undefined
    ? null
    : bufferToSqlite(document([element(found.type, 'v', found.bytes)]), MODE).v;
}

describe('an object of paths', () => {
  it('has all of its columns in its order, null where there is no element', () => {
    const converter = selecting({
      first: 'items.0.sku',
      city: 'address.city',
      id: '_id',
      lines: 'address.lines',
      third: 'items.2.sku',
      deeper: 'status.x',
      byName: 'items.sku',
      total: 'total',
      again: 'total',
    });
    const { row, replicaId } = converter.rawToSqliteRow(ORDER);
    expectRow(row, {
      first: 'A-1',
      city: 'Oslo',
      id: '66e834cc91d805df11fa0ecb',
      lines: '["a","b"]',
      third: null,
      deeper: null,
      byName: null,
      total: 12.5,
      again: 12.5,
    });
    expect(replicaId).toStrictEqual(new bson.ObjectId('66e834cc91d805df11fa0ecb'));
  });

  it('converts each type as a column, wherever it stands', () => {
    const converter = selecting({ inObject: 'o.p.v', inArray: 'a.1.0', top: 'v' });
    for (const entry of TYPE_TABLE) {
      const source = document([
        int('_id', 1),
        nested('o', int('x', 1), nested('p', element(entry.type, 'v', entry.payload))),
        array('a', number(1), [Type.ARRAY, payload.array([[entry.type, entry.payload]])]),
        element(entry.type, 'v', entry.payload),
      ]);
      const value = inMode(entry.column, MODE);
      expectRow(
        converter.rawToSqliteRow(source).row,
        { inObject: value, inArray: value, top: value },
        entry.name,
      );
    }
  });

  it('takes positions of arrays by their order, names of documents as they are', () => {
    const source = document([
      int('_id', 1),
      element(Type.ARRAY, 'a', document([int('7', 10), int('7', 11), int('0', 12)])),
      nested('d', int('0', 20), int('01', 21), int('-1', 22)),
    ]);
    const paths = [
      'a.0',
      'a.1',
      'a.2',
      'a.3',
      'a.7',
      'a.00',
      'a.01',
      'a.-1',
      'a. 1',
      'a.1e0',
      'd.0',
      'd.01',
      'd.-1',
    ];
    const converter = selecting(Object.fromEntries(paths.map((path) => [path, path])));
    expectRow(converter.rawToSqliteRow(source).row, {
      'a.0': 10n,
      'a.1': 11n,
      'a.2': 12n,
      'a.3': null,
      'a.7': null,
      'a.00': null,
      'a.01': null,
      'a.-1': null,
      'a. 1': null,
      'a.1e0': null,
      'd.0': 20n,
      'd.01': 21n,
      'd.-1': 22n,
    });
  });

  it('takes the last of elements of one name, at any level', () => {
    const converter = selecting({ x: 'a.x', y: 'a.y', a: 'a' });
    const rowOf = (...parts) => converter.rawToSqliteRow(document([int('_id', 1), ...parts])).row;
    expectRow(rowOf(nested('a', int('x', 1), int('x', 2)), nested('b')), {
      x: 2n,
      y: null,
      a: '{"x":1,"x":2}',
    });
    expectRow(rowOf(nested('a', int('x', 1)), nested('a', int('y', 2))), { x: null, y: 2n, a: '{"y":2}' });
    expectRow(rowOf(nested('a', int('x', 1)), int('a', 5)), { x: null, y: null, a: 5n });
    expectRow(rowOf(int('a', 5), nested('a', int('x', 1))), { x: 1n, y: null, a: '{"x":1}' });
  });

  it('takes the first _id for the identity, and the last one for a column', () => {
    const source = document([int('a', 1), int('_id', 2), nested('b', int('_id', 9)), int('_id', 3)]);
    const { row, replicaId } = selecting({ id: '_id', inner: 'b._id' }).rawToSqliteRow(source);
    expectRow(row, { id: 3n, inner: 9n });
    expect(replicaId).toBe(2);
    expect(() => selecting({ a: 'a' }).rawToSqliteRow(document([int('a', 1)]))).toThrow(
      'Attempt to parse document without _id',
    );
  });

  it('does not go through code with scope, regular expressions or references', () => {
    const source = document([
      int('_id', 1),
      element(Type.CODE_WITH_SCOPE, 'c', payload.codeWithScope('f', document([int('x', 1)]))),
      element(Type.REGEX, 'r', payload.regex('p', 'i')),
    ]);
    const { row } = selecting({ a: 'c.scope.x', b: 'c.x', c: 'r.pattern', d: 'c' }).rawToSqliteRow(source);
    expectRow(row, { a: null, b: null, c: null, d: '{"code":"f","scope":{"x":1}}' });
  });

  it('takes columns of any name', () => {
    const names = ['__proto__', 'constructor', 'toString', 'a"b', '\u2028', '1', '0', 'a.b', 'é'];
    const paths = {};
    for (const name of names) {
      Object.defineProperty(paths, name, { value: 'v', enumerable: true });
    }
    const converter = selecting(paths);
    for (let round = 0; round < 3; round++) {
      const { row } = converter.rawToSqliteRow(document([int('_id', 1), int('v', 2)]));
      expect(Object.keys(row)).toEqual(Object.keys(paths));
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      for (const name of names) expect(Object.getOwnPropertyDescriptor(row, name).value).toBe(2n);
    }
  });

  it('has at each path what a plain reading finds', () => {
    const segment = fc.constantFrom('a', 'b', '_id', '0', '1', '2', 'id', 'é', 'constructor', 'x'.repeat(17));
    const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
    const parameters = fc.tuple(documentWithId, fc.uniqueArray(path, { minLength: 1, maxLength: 12 }));
    let found = 0;
    fc.assert(
      fc.property(parameters, ([source, paths]) => {
        const result = attempt(() => whole.rawToSqliteRow(source));
        if (result.error !== undefined) return;
        const converter = selecting(Object.fromEntries(paths.map((each) => [`=${each}`, each])));
        const { row, replicaId } = converter.rawToSqliteRow(source);
        const expected = Object.fromEntries(paths.map((each) => [`=${each}`, valueAt(source, each)]));
        expectRow(row, expected);
        expectSame(replicaId, result.value.replicaId);
        found += Object.values(expected).filter((value) => value !== null).length;
      }),
      { numRuns: 2000 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it('finds every element of a generated document by its path', () => {
    const usable = (name) =>
      name !== '' && !name.includes('.') && Buffer.from(name, 'utf8').toString() === name;
    const pathsOf = (type, bytes, prefix) =>
      splitElements(bytes).flatMap((part, index) => {
        const nameEnd = part.indexOf(0, 1);
        const name = type === Type.ARRAY ? String(index) : part.toString('utf8', 1, nameEnd);
        const isExact = Buffer.from(name).equals(part.subarray(1, nameEnd));
        if (type !== Type.ARRAY && !(usable(name) && isExact)) return [];
        const path = [...prefix, name];
        const isContainer = part[0] === Type.DOCUMENT || part[0] === Type.ARRAY;
        return [path.join('.'), ...(isContainer ? pathsOf(part[0], part.subarray(nameEnd + 1), path) : [])];
      });
    fc.assert(
      fc.property(
        anyColumns.map((parts) => document([int('_id', 1), ...parts])),
        (source) => {
          if (attempt(() => whole.rawToSqliteRow(source)).error !== undefined) return;
          const paths = [...new Set(pathsOf(Type.DOCUMENT, source, []))];
          const converter = selecting(Object.fromEntries(paths.map((path) => [`=${path}`, path])));
          const expected = Object.fromEntries(paths.map((path) => [`=${path}`, valueAt(source, path)]));
          expectRow(converter.rawToSqliteRow(source).row, expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

const FORMS = { 'an array': ['total', 'address'], 'an object': { total: 'total', city: 'address.city' } };

for (const [title, columns] of Object.entries(FORMS)) {
  describe(`${title}, by every method`, () => {
    const converter = selecting(columns, { updateDescription: true });
    const { row, replicaId } = converter.rawToSqliteRow(ORDER);
    const before = document([int('_id', 1), string('total', 'before')]);
    const rowBefore = converter.rawToSqliteRow(before).row;
    const event = document([
      nested('_id', string('_data', '82')),
      string('operationType', 'update'),
      element(Type.DOCUMENT, 'fullDocument', ORDER),
      element(Type.DOCUMENT, 'fullDocumentBeforeChange', before),
      element(Type.DOCUMENT, 'documentKey', document([int('_id', 5)])),
      nested('updateDescription', string('address', 'kept')),
    ]);
    const change = {
      ...new NativeSourceRowConverter(MODE, { updateDescription: true }).convertChange(event),
    };

    it('documentToSqliteRow', () => {
      expectRow(converter.documentToSqliteRow(bson.deserialize(ORDER)), row);
    });
    it('convertChange, whose fields stay', () => {
      const actual = converter.convertChange(event);
      expectSame(actual, { ...change, row, rowBefore });
      expect(Object.keys(actual)).toEqual(Object.keys(change));
      expect(actual.replicaId).toBe(5);
    });
    it('convertBatch', () => {
      const documents = Array.from({ length: 70 }, (_, index) => (index % 3 ? ORDER : before));
      const expected = documents.map((bytes) => converter.rawToSqliteRow(bytes));
      expectSame(converter.convertBatch(cursorReply(batchOf(documents))).documents, expected);
      const events = converter.convertBatch(cursorReply(batchOf([event, event]), { isChangeStream: true }));
      expectSame(events.changes, [converter.convertChange(event), converter.convertChange(event)]);
      expectSame(converter.convertDocuments(documents), expected);
    });
    it('convertBatchAsync and convertDocumentsAsync', async () => {
      const documents = Array.from({ length: 70 }, (_, index) => (index % 3 ? ORDER : before));
      const expected = documents.map((bytes) => converter.rawToSqliteRow(bytes));
      expectSame(await converter.convertDocumentsAsync(documents), expected);
      expectSame((await converter.convertBatchAsync(cursorReply(batchOf(documents)))).documents, expected);
      const events = cursorReply(batchOf([event, event]), { isChangeStream: true });
      expectSame((await converter.convertBatchAsync(events)).changes, converter.convertBatch(events).changes);
    });
    it('the row is the expected one', () => {
      expectRow(
        row,
        Array.isArray(columns)
          ? { total: 12.5, address: '{"city":"Oslo","lines":["a","b"]}' }
          : { total: 12.5, city: 'Oslo' },
      );
      expect(replicaId).toStrictEqual(new bson.ObjectId('66e834cc91d805df11fa0ecb'));
    });
  });
}

describe('what is not selected is not looked at', () => {
  const badNames = nested('bad', element(0x99, 'x'));
  const illFormed = element(Type.STRING, 'text', payload.string([0xff, 0xfe]));
  const farDate = element(Type.DATETIME, 'date', payload.datetime(2n ** 62n));
  let deep = document([]);
  for (let level = 0; level < 40; level++) deep = document([element(Type.DOCUMENT, 'd', deep)]);
  const parts = [
    int('_id', 1),
    badNames,
    illFormed,
    farDate,
    element(Type.DOCUMENT, 'deep', deep),
    int('good', 2),
  ];
  const source = document(parts);

  it('an error inside it, but with strict', () => {
    expect(() => whole.rawToSqliteRow(source)).toThrow('Unsupported BSON nested type: 0x99');
    for (const columns of [['good'], { good: 'good' }, { good: 'good', no: 'deep.x' }]) {
      const { row } = selecting(columns).rawToSqliteRow(source);
      expect(row.good).toBe(2n);
      expect(() => selecting(columns, { strict: true }).rawToSqliteRow(source)).toThrow(
        'Unsupported BSON nested type: 0x99',
      );
    }
  });
  it('and a path goes by the length of all that is beside it', () => {
    const beside = document([int('_id', 1), nested('o', badNames, int('x', 3))]);
    expectRow(selecting({ x: 'o.x' }).rawToSqliteRow(beside).row, { x: 3n });
  });
  it('an error where it is selected has the place in the document', () => {
    const { error } = attempt(() =>
      selecting({ x: 'o.bad' }).rawToSqliteRow(document([int('_id', 1), nested('o', badNames)])),
    );
    expect(error.message).toBe('Unsupported BSON nested type: 0x99');
    expect(error.path).toEqual(['o', 'bad', 'x']);
    expect(error.code).toBe('BSONROW_NESTED_TYPE');
  });
  it('but lengths and types on the way are', () => {
    const unknown = document([int('_id', 1), element(0x98, 'u'), int('good', 2)]);
    for (const columns of [['good'], { good: 'good' }]) {
      const { error } = attempt(() => selecting(columns).rawToSqliteRow(unknown));
      expect(error.message).toBe('Unsupported BSON type for skip: 0x98');
      expect([error.offset, error.path]).toEqual([13, ['u']]);
      const long = document([int('_id', 1), element(Type.STRING, 's', payload.string('x', { length: 99 }))]);
      expect(() => selecting(columns).rawToSqliteRow(long)).toThrow('Invalid BSON string length');
    }
  });
});

describe('bad columns are a TypeError that quotes them', () => {
  const CASES = [
    [[], 'at least one column'],
    [{}, 'at least one column'],
    [['a', 'b', 'a'], '"a"'],
    [['a', ''], '""'],
    [['a', 5], '5'],
    [['a', undefined], 'undefined'],
    [['a\0b'], '"a\\u0000b"'],
    [['a', '\ud800'], '"\\ud800"'],
    [[['a']], 'an array'],
    [[Symbol('a')], 'Symbol(a)'],
    [{ a: '' }, '""'],
    [{ a: 'b..c' }, '"b..c"'],
    [{ a: '.b' }, '".b"'],
    [{ a: 'b.' }, '"b."'],
    [{ a: '.' }, '"."'],
    [{ a: 5 }, '5'],
    [{ a: null }, 'null'],
    [{ a: ['b'] }, 'an array'],
    [{ a: {} }, 'an object'],
    [{ a: () => 'b' }, 'a function'],
    [{ a: undefined }, 'undefined'],
    [{ a: 'b\0' }, '"b\\u0000"'],
    [{ a: 'b.\udc00' }, '"b.\\udc00"'],
    [{ '': 'a' }, '""'],
    [{ 'a\0': 'a' }, '"a\\u0000"'],
    ['a', 'columns'],
    [5, 'columns'],
    [true, 'columns'],
    [null, 'columns'],
    [() => ['a'], 'columns'],
    [new Set(['a']), 'must be an array of column names or an object'],
    [new Map([['a', 'b']]), 'must be an array of column names or an object'],
  ];
  for (const [columns, quoted] of CASES) {
    it(`${typeof columns === 'function' ? 'a function' : JSON.stringify(columns)}, ${quoted}`, () => {
      const { error } = attempt(() => selecting(columns));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.code).toBe('BSONROW_INVALID_ARGUMENT');
      expect(error.message).toContain('columns');
      expect(error.message).toContain(quoted);
    });
  }
  it('are looked for in a time that grows with their number', () => {
    const names = Array.from({ length: 32_000 }, (_, index) => `column ${index}`);
    const some = names.slice(0, 2_000);
    expect(
      timeRatio(
        () => selecting(some),
        () => selecting(names),
      ),
    ).toBeLessThan(64);
  });

  it('undefined is all columns', () => {
    expectRow(selecting(undefined).rawToSqliteRow(ORDER).row, whole.rawToSqliteRow(ORDER).row);
  });
  it('what is done to them later changes nothing', () => {
    const names = ['total'];
    const paths = { c: 'address.city' };
    const [byName, byPath] = [selecting(names), selecting(paths)];
    names.push('status');
    paths.c = 'total';
    expectRow(byName.rawToSqliteRow(ORDER).row, { total: 12.5 });
    expectRow(byPath.rawToSqliteRow(ORDER).row, { c: 'Oslo' });
  });
});
