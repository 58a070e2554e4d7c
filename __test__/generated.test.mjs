/** Generated documents against the oracle, and the text of numbers, dates and decimals against JavaScript itself. */
import { Decimal128 } from 'bson';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, DateRenderMode, NativeSourceRowConverter } from '../index.js';
import { anyValue, columns } from './support/arbitrary.mjs';
import { document, element, payload, string, Type } from './support/bson-bytes.mjs';
import { rowOf } from './support/convert.mjs';
import { attempt, expectBsonRowError, expectRow, expectSame, withoutProto } from './support/outcome.mjs';
import { oracles, peer, peerMissing } from './support/peer.mjs';
import { createRandom, randomBytes } from './support/random.mjs';
import { describeUnless } from './support/skip.mjs';

const MODES = Object.values(DateRenderMode);
const RUNS = 3000;
const check = (property) => fc.assert(property, { numRuns: RUNS });

describeUnless(peerMissing, 'generated documents equal the oracle', () => {
  const converter = peer && new NativeSourceRowConverter(0, { bson: peer.bson });

  it(`rows in all modes (${RUNS} documents)`, () => {
    check(
      fc.property(columns, (elements) => {
        const bytes = document(elements);
        for (const mode of MODES) {
          const oracle = attempt(() => peer.bufferToSqlite(bytes, mode));
          const { value, error } = attempt(() => bufferToSqlite(bytes, mode));
          if (oracle.error) expect(error?.message).toBe(oracle.error.message);
          else if (error) throw error;
          else expectRow(withoutProto(value), oracle.value);
        }
      }),
    );
  });

  it(`identities (${RUNS} documents)`, () => {
    check(
      fc.property(anyValue, columns, (id, rest) => {
        const bytes = document([element(id[0], '_id', id[1]), ...rest]);
        const oracle = attempt(() => oracles[0].rawToSqliteRow(bytes));
        const { value, error } = attempt(() => converter.rawToSqliteRow(bytes));
        if (error) {
          expectBsonRowError(error, bytes.length);
          // Refused by both, or an identity that does not come back as the bytes it was.
          if (!oracle.error) expectLossy(oracle.value.replicaId, peer.parseDocumentId(bytes).idBuffer);
        } else {
          if (oracle.error) throw oracle.error;
          expectRow(withoutProto(value.row), oracle.value.row);
          expectSame(value.replicaId, oracle.value.replicaId);
        }
      }),
    );
  });
});

function expectLossy(replicaId, idBuffer) {
  const { value } = attempt(() => peer.bson.serialize({ _id: replicaId }, { ignoreUndefined: false }));
  expect(value !== undefined && Buffer.compare(value, idBuffer) === 0, 'an _id without loss is refused').toBe(
    false,
  );
}

describe('text of random values', () => {
  const COUNT = 20_000;
  const ROUNDS = 5;
  const random = createRandom();
  const arrayOf = (type, payloads) =>
    rowOf([element(Type.ARRAY, 'a', payload.array(payloads.map((bytes) => [type, bytes])))]).a;

  function expectTexts(type, payloads, texts) {
    const actual = arrayOf(type, payloads).slice(1, -1).split(',');
    expect(actual.length).toBe(texts.length);
    texts.forEach((text, index) => {
      if (actual[index] !== text) expect(actual[index], payloads[index].toString('hex')).toBe(text);
    });
  }

  it('doubles of random bits, as JSON.stringify writes them', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const payloads = Array.from({ length: COUNT }, () => randomBytes(random, 8));
      expectTexts(
        Type.DOUBLE,
        payloads,
        payloads.map((bytes) => JSON.stringify(bytes.readDoubleLE())),
      );
    }
  });

  it('doubles with few digits', () => {
    const values = Array.from({ length: COUNT }, () => (random() % 1_000_000) / 10 ** (random() % 12));
    expectTexts(Type.DOUBLE, values.map(payload.double), values.map(String));
    const wide = Array.from({ length: COUNT }, () => (random() % 1000) * 10 ** ((random() % 60) - 30));
    expectTexts(Type.DOUBLE, wide.map(payload.double), wide.map(String));
  });

  it('integers', () => {
    const payloads = Array.from({ length: COUNT }, () => randomBytes(random, 8).fill(0, random() % 8));
    expectTexts(
      Type.INT64,
      payloads,
      payloads.map((bytes) => String(bytes.readBigInt64LE())),
    );
    expectTexts(
      Type.TIMESTAMP,
      payloads,
      payloads.map((bytes) => String(bytes.readBigUInt64LE())),
    );
    const small = payloads.map((bytes) => bytes.subarray(0, 4));
    expectTexts(
      Type.INT32,
      small,
      small.map((bytes) => String(bytes.readInt32LE())),
    );
  });

  it('doubles as columns: BigInt or the number', () => {
    for (let at = 0; at < COUNT; at++) {
      const bytes = randomBytes(random, 8);
      const number = bytes.readDoubleLE();
      for (const value of [number, Math.trunc(number)]) {
        const column = rowOf([element(Type.DOUBLE, 'v', payload.double(value))]).v;
        expect(Object.is(column, Number.isInteger(value) ? BigInt(value) : value), String(value)).toBe(true);
      }
    }
  });

  it('Decimal128 of random bytes, as js-bson writes them', () => {
    const payloads = Array.from({ length: COUNT }, () => randomBytes(random, 16));
    // Small coefficients, too, which the random bytes hardly ever have.
    for (const bytes of payloads.slice(0, COUNT / 2)) bytes.fill(0, random() % 14, 14);
    expectTexts(
      Type.DECIMAL128,
      payloads,
      payloads.map((bytes) => `"${new Decimal128(Uint8Array.from(bytes))}"`),
    );
  });

  it('dates, as Date.prototype.toISOString writes them', () => {
    const spans = [8.64e15, 2.6e14, 4e12, 1e10];
    const values = Array.from({ length: COUNT }, (_, index) => {
      const span = spans[index % spans.length];
      return Math.trunc(((random() + random() / 2 ** 32) / 2 ** 31 - 1) * span);
    });
    expectTexts(
      Type.DATETIME,
      values.map(payload.datetime),
      values.map((ms) => `"${new Date(ms).toISOString().replace('T', ' ')}"`),
    );
  });

  it('ObjectIds and UUIDs', () => {
    const oids = Array.from({ length: COUNT }, () => randomBytes(random, 12));
    expectTexts(
      Type.OBJECT_ID,
      oids,
      oids.map((bytes) => `"${bytes.toString('hex')}"`),
    );
    const uuids = Array.from({ length: COUNT }, () => randomBytes(random, 16));
    expectTexts(
      Type.BINARY,
      uuids.map((bytes) => payload.binary(4, bytes)),
      uuids.map((bytes) => `"${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}"`),
    );
  });

  it('strings of random bytes, as TextDecoder reads them', () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    for (let at = 0; at < COUNT / 4; at++) {
      const bytes = randomBytes(random, random() % 100);
      const masked = at % 2 ? bytes : bytes.map((byte) => 0x80 | byte);
      const expected = decoder.decode(masked);
      const part = string('v', masked);
      const row = rowOf([part, element(Type.DOCUMENT, 'o', document([part]))]);
      if (row.v !== expected) expect(row.v, masked.toString('hex')).toBe(expected);
      if (JSON.parse(row.o).v !== expected)
        expect(row.o, masked.toString('hex')).toBe(JSON.stringify({ v: expected }));
    }
  });
});
