// Names and values in SQLite.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldName, freeName, quoteName, wantedTableName } from '../lib/sink/naming.mjs';
import { overflowJson, storableValue } from '../lib/sink/values.mjs';

test('only ASCII letters are folded, as in SQLite', () => {
  expect(foldName('Ärger.ABC')).toBe('Ärger.abc');
});

test('any names in any order get names that SQLite tells apart', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom('a', 'A', 'a#2', 'A#2', 'aB', 'Ab', '', 'é', 'É')),
      (names) => {
        const taken = new Set();
        for (const name of names) {
          const given = freeName(name, taken);
          expect(taken.has(foldName(given))).toBe(false);
          expect(given.startsWith(name)).toBe(true);
          taken.add(foldName(given));
        }
      },
    ),
  );
});

test('the prefix that SQLite keeps to itself is not used', () => {
  expect(wantedTableName('sqlite_x.y')).toBe('_sqlite_x.y');
  expect(wantedTableName('SQLite_x.y')).toBe('_SQLite_x.y');
  expect(wantedTableName('shop.sqlite_y')).toBe('shop.sqlite_y');
});

test('a quote in a name is doubled', () => {
  expect(quoteName('a"b')).toBe('"a""b"');
});

test.each([
  [2n ** 63n - 1n, 2n ** 63n - 1n],
  [2n ** 63n, '9223372036854775808'],
  [-(2n ** 63n), -(2n ** 63n)],
  [-(2n ** 63n) - 1n, '-9223372036854775809'],
  [Number.NaN, null],
  [Infinity, Infinity],
  [1.5, 1.5],
  [null, null],
  ['', ''],
])('%s is stored as %s', (value, stored) => {
  expect(storableValue(value)).toBe(stored);
});

test('columns without room become JSON with every digit', () => {
  const entries = [
    ['a"', 9007199254740993n],
    ['b', new Uint8Array([1, 255])],
    ['c', Number.NaN],
    ['d', null],
    ['e', 'é\n'],
    ['f', 0.5],
  ];
  expect(overflowJson(entries)).toBe(
    '{"a\\"":9007199254740993,"b":{"$hex":"01ff"},"c":null,"d":null,"e":"é\\n","f":0.5}',
  );
});
