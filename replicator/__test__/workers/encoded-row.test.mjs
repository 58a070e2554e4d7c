// Long texts of an encoded row become bytes, and nothing else becomes anything else: compared with what msgpackr decodes of
// the row as it was.
import { DateRenderMode, messagePackExtensions, NativeSourceRowConverter } from 'bsonrow';
import { addExtension, Packr, Unpackr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import {
  document,
  element,
  int,
  nested,
  payload,
  string,
  Type,
  withId,
} from '../../../__test__/support/bson-bytes.mjs';
import { TYPE_TABLE } from '../../../__test__/support/type-table.mjs';
import { longTextsToBytes } from '../../lib/workers/messages/long-texts.mjs';

const MIN = 300;

const packr = new Packr({ useRecords: false, variableMapSize: true });
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
for (const { type, decode } of messagePackExtensions()) addExtension({ type, unpack: decode });

const rowOf = (bytes, mode = DateRenderMode.ISO_MILLISECONDS) =>
  new NativeSourceRowConverter(mode).toMessagePack(bytes, { layout: 'table' });

const valuesOf = (row) => unpackr.unpack(row)[0].rows[0][0];

/** Marks the long texts of a row, and checks all of it. @returns {number[]} which they are */
function check(row) {
  const wanted = valuesOf(Buffer.from(row));
  const indexes = wanted.flatMap((value, index) =>
    typeof value === 'string' && Buffer.byteLength(value) >= MIN ? [index] : [],
  );
  const before = unpackr.unpack(Buffer.from(row));
  expect(longTextsToBytes(row, MIN)).toEqual(indexes);
  const after = unpackr.unpack(row);
  for (const index of indexes) {
    const value = after[0].rows[0][0][index];
    expect(Buffer.isBuffer(value)).toBe(true);
    after[0].rows[0][0][index] = value.toString();
  }
  expect(after).toEqual(before);
  return indexes;
}

describe('beside long texts, every kind of value', () => {
  const long = 'é'.repeat(MIN);

  test.each(Object.entries(DateRenderMode).filter(([, mode]) => typeof mode === 'number'))(
    'each by itself, dates as %s',
    (_name, mode) => {
      for (const { type, payload: bytes } of TYPE_TABLE) {
        const around = [element(type, 'first', bytes), string('long', long), element(type, 'last', bytes)];
        const row = rowOf(withId(...around), mode);
        expect(check(row)).toContain(2);
      }
    },
  );

  test('all in one row', () => {
    const elements = TYPE_TABLE.flatMap(({ type, payload: bytes }, i) => [
      element(type, `v${i}`, bytes),
      string(`long${i}`, long),
    ]);
    const indexes = check(rowOf(withId(...elements)));
    expect(indexes.length).toBeGreaterThanOrEqual(TYPE_TABLE.length);
  });
});

test.each([
  [0, []],
  [1, []],
  [MIN - 1, []],
  [MIN, [1, 2]],
  [MIN + 1, [1, 2]],
  [2 ** 16 - 1, [1, 2]],
  [2 ** 16, [1, 2]],
  [2 ** 16 + 1, [1, 2]],
])('texts of %i bytes', (length, indexes) => {
  const row = rowOf(
    withId(string('a', 'x'.repeat(length)), string('b', 'y'.repeat(length)), string('c', 'z')),
  );
  expect(check(row)).toEqual(indexes);
});

test.each([1, 14, 15, 16, 17, 2 ** 16 - 2, 2 ** 16 - 1, 2 ** 16])('a row of 1 + %i values', (count) => {
  const elements = Array.from({ length: count }, (_, i) =>
    string(`n${i}`, i === count - 1 ? 'x'.repeat(MIN) : 'x'),
  );
  expect(check(rowOf(withId(...elements)))).toEqual([count]);
});

test.each([31, 32, 255, 256, 70_000])('names of %i bytes', (length) => {
  const row = rowOf(withId(string('n'.repeat(length), 'x'.repeat(MIN)), string('é'.repeat(length), 'x')));
  expect(check(row)).toEqual([1]);
});

test('a blob is none', () => {
  const blob = element(Type.BINARY, 'blob', payload.binary(0, Buffer.alloc(2 * MIN, 'x')));
  expect(check(rowOf(withId(blob, string('text', 'x'.repeat(MIN)))))).toEqual([2]);
});

// An identity that is a document has its own names, which stand behind those of the row.
test.each([
  ['empty', []],
  ['of two fields', [int('day', 3), string('shop', 'Oslo')]],
  ['with documents in it', [nested('a', nested('b', int('c', 1)), int('d', 2)), nested('e')]],
  [
    'with an array of documents',
    [element(Type.ARRAY, 'a', payload.array([[Type.DOCUMENT, document([int('x', 1)])]]))],
  ],
  ['of more fields than a short array holds', Array.from({ length: 20 }, (_, i) => int(`n${i}`, i))],
])('an identity that is a document, %s', (_name, fields) => {
  const bytes = document([nested('_id', ...fields), string('text', 'x'.repeat(MIN)), int('n', 1)]);
  expect(check(rowOf(bytes))).toEqual([1]);
});

describe('what bsonrow does not write is an error', () => {
  const row = () =>
    rowOf(
      document([
        int('_id', 1),
        string('text', 'x'.repeat(2 * MIN)),
        element(Type.BINARY, 'blob', payload.binary(0, Buffer.alloc(MIN))),
        element(Type.DOUBLE, 'beyond', payload.double(1e300)),
      ]),
    );
  const error = /^a row is not what bsonrow writes: byte \d+$/;

  test('a row that is cut short', () => {
    // The identity behind the values is an int32.
    const end = row().length - 1;
    for (let length = 0; length < end; length += 1)
      expect(() => longTextsToBytes(row().subarray(0, length), MIN), `${length}`).toThrow(error);
    expect(longTextsToBytes(row().subarray(0, end), MIN)).toEqual([1]);
  });

  test('another byte in front of a value', () => {
    const whole = row();
    const starts = [0, 5, 6, whole.indexOf('rows') - 1, whole.indexOf('rows') + 4, whole.indexOf(0xda)];
    for (const start of starts) {
      // Never used, an array of none, a map of none.
      for (const byte of [0xc1, 0x90, 0x80]) {
        const damaged = row();
        damaged[start] = byte;
        expect(() => longTextsToBytes(damaged, MIN), `${byte} at ${start}`).toThrow(error);
      }
    }
  });

  test.each([
    ['as bsonrow writes them', ['row', ['text'], 'replicaId'], true],
    ['with those of the identity', ['row', ['text'], 'replicaId', ['a', ['b'], 'c']], true],
    ['no identity', ['row', ['text']], false],
    ['more than those of the identity', ['row', ['text'], 'replicaId', ['a'], 'more'], false],
    ['a name instead of a list of them', ['row', ['text'], 'replicaId', 'a'], false],
    ['a list among those of the row', ['row', ['text', []], 'replicaId'], false],
  ])('names: %s', (_name, names, isWritten) => {
    const values = names[1].map(() => 'x'.repeat(MIN));
    const packed = packr.pack([{ names, rows: [[values, 1]] }]);
    if (isWritten) expect(longTextsToBytes(packed, MIN)).toEqual([0]);
    else expect(() => longTextsToBytes(packed, MIN)).toThrow(error);
  });

  test('an array that is longer than the row', () => {
    const damaged = row();
    damaged.writeUInt32BE(2 ** 32 - 1, 1);
    expect(() => longTextsToBytes(damaged, MIN)).toThrow(error);
  });
});
