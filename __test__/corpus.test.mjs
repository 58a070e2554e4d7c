/** The official corpus: what is valid converts and equals the oracle, what must fail never does harm. */
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, DateRenderMode, NativeSourceRowConverter } from '../index.js';
import { int, payload } from './support/bson-bytes.mjs';
import { corpusFiles, dataMissing, vectorCases } from './support/data.mjs';
import { attempt, expectBsonRowError, expectRow, isListedMessage } from './support/outcome.mjs';
import { peer } from './support/peer.mjs';
import { describeUnless } from './support/skip.mjs';

const MODES = Object.values(DateRenderMode);
const lenient = new NativeSourceRowConverter(0);
const strict = new NativeSourceRowConverter(0, { strict: true });
const fromHex = (digits) => Buffer.from(digits, 'hex');

/** The same bytes with an `_id` first, whose width is added to the stated length. */
function prefixId(bytes) {
  const id = int('_id', 1);
  const length = payload.int32(bytes.readInt32LE(0) + id.length);
  return Buffer.concat([length, id, bytes.subarray(4)]);
}

/** The corpus forbids these; their result is well defined, so they convert unless `strict` is asked for. */
const CONVERT_BY_DEFAULT = new Map([
  ['boolean.json: Invalid boolean value of 2', { b: 1n }],
  ['boolean.json: Invalid boolean value of -1', { b: 1n }],
  ['binary.json: subtype 0x02 length too short', { x: Uint8Array.of(0xff) }],
  ['code.json: invalid UTF-8', { a: '{"code":"\ufffd","scope":null}' }],
  ['symbol.json: invalid UTF-8', { a: '\ufffd' }],
  [
    'dbpointer.json: String with bad UTF-8',
    { a: '{"collection":"\ufffd","oid":"56e1fc72e0c917e9c4714161","fields":{}}' },
  ],
  ['top.json: Stated length less than byte count, with garbage after envelope', { foo: 'bar' }],
]);

describeUnless(dataMissing, 'valid', () => {
  for (const file of corpusFiles().filter((each) => each.valid)) {
    describe(file.name, () => {
      for (const test of file.valid) {
        const forms = [test.canonical_bson, test.degenerate_bson, test.converted_bson].filter(Boolean);
        it(test.description, () => {
          for (const bytes of forms.map(fromHex)) {
            for (const mode of MODES) {
              const { value, error } = attempt(() => bufferToSqlite(bytes, mode));
              const oracle = peer ? attempt(() => peer.bufferToSqlite(bytes, mode)) : { value, error };
              if (oracle.error) expect(error?.message).toBe(oracle.error.message);
              else expectRow(value, oracle.value);
            }
            expect(strict.rawToSqliteRow(prefixId(bytes)).row).toStrictEqual(
              lenient.rawToSqliteRow(prefixId(bytes)).row,
            );
          }
        });
      }
    });
  }
});

describeUnless(dataMissing, 'decodeErrors', () => {
  const unseen = new Set(CONVERT_BY_DEFAULT.keys());
  for (const file of corpusFiles()) {
    for (const test of file.decodeErrors ?? []) {
      const name = `${file.name}: ${test.description.trim()}`;
      const bytes = fromHex(test.bson);
      const row = CONVERT_BY_DEFAULT.get(name);
      unseen.delete(name);

      it(`${name}, by default`, () => {
        const { value, error } = attempt(() => bufferToSqlite(bytes, 0));
        if (row) {
          expect(value).toStrictEqual(row);
          return;
        }
        expectBsonRowError(error, bytes.length, name);
        expect(isListedMessage(error.message), error.message).toBe(true);
      });

      it(`${name}, strict`, () => {
        for (const each of [bytes, prefixId(bytes)]) {
          const { error } = attempt(() => strict.rawToSqliteRow(each));
          expectBsonRowError(error, each.length, name);
          expect(error.message).not.toContain('without _id');
        }
      });
    }
  }
  it('has every case that converts by default', () => expect([...unseen]).toEqual([]));
});

describeUnless(dataMissing, 'Decimal128 texts', () => {
  const files = corpusFiles().filter((file) => file.name.startsWith('decimal128'));
  it('has the files', () => expect(files.length).toBeGreaterThanOrEqual(5));
  for (const file of files) {
    it(`${file.name}: canonical_extjson`, () => {
      for (const test of file.valid ?? []) {
        const expected = JSON.parse(test.canonical_extjson)[file.test_key].$numberDecimal;
        expect(bufferToSqlite(fromHex(test.canonical_bson), 0)[file.test_key], test.description).toBe(
          expected,
        );
      }
    });
  }
});

describeUnless(dataMissing, 'vectors', () => {
  for (const test of vectorCases()) {
    it(test.description, () => {
      const bytes = fromHex(test.canonical_bson);
      // The data of the only element stand before the document's terminator.
      const length = bytes.readInt32LE(bytes.indexOf(0, 5) + 1);
      expect(bufferToSqlite(bytes, 0)).toStrictEqual({
        vector: Uint8Array.from(bytes.subarray(-1 - length, -1)),
      });
    });
  }
});
