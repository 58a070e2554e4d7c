/**
 * Damaged documents: every good one cut at every byte, and with every byte changed. What a second reading of the
 * rules (`support/model.mjs`) accepts must equal the oracle; all else must be an error of the documented shape.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bufferToSqlite, NativeSourceRowConverter, parseChangeDocument, parseDocumentId } from '../index.js';
import { document, element, int, payload, string, Type, withId } from './support/bson-bytes.mjs';
import { dataMissing, listFiles, readBytes, smallDocuments, splitDocuments } from './support/data.mjs';
import { refusal } from './support/model.mjs';
import { attempt, expectBsonRowError, isListedMessage, sameRow, withoutProto } from './support/outcome.mjs';
import { oracles, peer } from './support/peer.mjs';
import { createRandom, randomBytes } from './support/random.mjs';
import { describeUnless } from './support/skip.mjs';
import { timeRatio } from './support/time-ratio.mjs';
import { TYPE_TABLE } from './support/type-table.mjs';

const converter = new NativeSourceRowConverter(0, peer && { bson: peer.bson });
const random = createRandom();

// Most calls throw, and a stack trace costs more than all the rest.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

const GOOD = withId(
  string('s', 'good'),
  element(Type.DOCUMENT, 'o', document([element(Type.BOOLEAN, 'b', [1])])),
);
const GOOD_RESULT = { row: { _id: 1n, s: 'good', o: '{"b":1}' }, replicaId: 1 };

/** Documents of no more bytes are cut and changed at each. */
const SMALL = 160;

const SECRET = 'SECRET';
const SECRET_DOCUMENT = withId(
  string('s', SECRET.repeat(400)),
  element(Type.ARRAY, 'a', payload.array(Array(40).fill([Type.STRING, payload.string(SECRET.repeat(10))]))),
);

function fail(message, bytes) {
  expect.fail(`${message}\nbytes: ${bytes.toString('hex').slice(0, 2000)}`);
}

describe('a binary of one byte too many', () => {
  const tooLong = element(Type.BINARY, 'v', payload.binary(0, Buffer.from('abc'), { length: 4 }));
  const inner = document([tooLong]);
  const LENGTH_AT = 4 + 'tv\0'.length;
  const behind = Buffer.concat([inner, Buffer.alloc(64, 'A')]);

  it.each([
    ['at the end of the document', inner, LENGTH_AT, ['v']],
    ['with bytes behind the source', behind.subarray(0, inner.length), LENGTH_AT, ['v']],
    ...[Type.DOCUMENT, Type.ARRAY].map((type) => [
      `at the end of what is nested, type ${type}`,
      document([element(type, 'd', inner), string('secret', SECRET)]),
      4 + 'td\0'.length + LENGTH_AT,
      ['d', type === Type.ARRAY ? 0 : 'v'],
    ]),
  ])('%s', (_place, bytes, offset, path) => {
    const { error } = attempt(() => bufferToSqlite(bytes, 0));
    expect(error).toMatchObject({ code: 'BSONROW_BINARY_LENGTH', offset });
    expect(error.path.map(String)).toEqual(path.map(String));
  });
});

/** `bufferToSqlite` against the model and the oracle. */
function expectRowOrError(bytes) {
  const refused = refusal(bytes);
  const { value, error } = attempt(() => bufferToSqlite(bytes, 0));
  if (error) {
    expectBsonRowError(error, bytes.length);
    if (!isListedMessage(error.message)) fail(`message not listed: ${error.message}`, bytes);
  }
  if (refused) {
    if (!error) fail(`not refused, though malformed: ${refused}`, bytes);
    return undefined;
  }
  if (!peer) return value;
  const oracle = attempt(() => peer.bufferToSqlite(bytes, 0));
  if (oracle.error || error) {
    if (oracle.error?.message !== error?.message) {
      fail(`oracle: ${oracle.error?.message}, here: ${error?.message}`, bytes);
    }
    return undefined;
  }
  if (!sameRow(withoutProto(value), oracle.value)) fail('row differs', bytes);
  return value;
}

/** The same document as the value of a column: its text is JSON, whatever the bytes. */
function expectNested(bytes) {
  const row = expectRowOrError(withId(element(Type.DOCUMENT, 'd', bytes)));
  if (row) JSON.parse(row.d);
}

/** A row and an identity: as the oracle's, unless the identity is lossy. */
function expectIdentity(bytes) {
  const { value, error } = attempt(() => converter.rawToSqliteRow(bytes));
  if (error) expectBsonRowError(error, bytes.length);
  if (refusal(bytes)) {
    if (value) fail('malformed, though it converts', bytes);
    return;
  }
  if (!peer) return;
  const oracle = attempt(() => oracles[0].rawToSqliteRow(bytes));
  if (oracle.error) {
    if (value) fail(`the oracle throws ${oracle.error.message}`, bytes);
    return;
  }
  const _id = oracle.value.replicaId;
  const { idBuffer } = peer.parseDocumentId(bytes);
  const again = attempt(() => peer.bson.serialize({ _id }, { ignoreUndefined: false })).value;
  if (error) {
    if (again && Buffer.compare(again, idBuffer) === 0) fail(`refused: ${error.message}`, bytes);
    return;
  }
  if (!sameRow({ _id: value.replicaId }, { _id })) fail('replicaId differs', bytes);
}

/** What reads events and ids: any outcome but a crash or an error of another shape. */
function expectHarmless(bytes) {
  for (const read of [parseDocumentId, parseChangeDocument]) {
    const { error } = attempt(() => read(bytes));
    if (error) expectBsonRowError(error, bytes.length, read.name);
  }
}

function expectAll(bytes) {
  expectRowOrError(bytes);
  expectNested(bytes);
  expectIdentity(bytes);
  expectHarmless(bytes);
}

/** Every document cut before each byte: with the length it had, and with the length that is left. */
function* cuts(bytes, positions) {
  for (const at of positions) {
    const cut = Buffer.from(bytes.subarray(0, at));
    yield cut;
    if (at < 5) continue;
    const relabelled = Buffer.from(cut);
    relabelled.writeInt32LE(at);
    yield relabelled;
    const terminated = Buffer.from(relabelled);
    terminated[at - 1] = 0;
    yield terminated;
  }
}

/** Every document with one byte changed, in a few ways. */
function* changes(bytes, positions) {
  for (const at of positions) {
    const old = bytes[at];
    for (const byte of new Set([old ^ 0x01, old ^ 0x80, 0, random() & 0xff])) {
      if (byte === old) continue;
      const changed = Buffer.from(bytes);
      changed[at] = byte;
      yield changed;
    }
  }
}

const everyPosition = (bytes) => [...bytes.keys()];
const somePositions = (bytes, count) => Array.from({ length: count }, () => random() % bytes.length);

/** One document of each entry of the type table. */
const tableDocuments = TYPE_TABLE.map((entry) => ({
  name: entry.name,
  bytes: withId(element(entry.type, 'v', entry.payload)),
}));

describe('documents of the type table', () => {
  it('cut at every byte', () => {
    for (const { bytes } of tableDocuments) {
      for (const cut of cuts(bytes, everyPosition(bytes))) expectAll(cut);
    }
  });
  it('with every byte changed', () => {
    for (const { bytes } of tableDocuments) {
      for (const changed of changes(bytes, everyPosition(bytes))) expectAll(changed);
    }
  });
});

describeUnless(dataMissing, 'small documents of the data', () => {
  const documents = smallDocuments(SMALL);
  it('are there', () => expect(documents.length).toBeGreaterThan(200));
  it('cut at every byte', () => {
    for (const { bytes } of documents) for (const cut of cuts(bytes, everyPosition(bytes))) expectAll(cut);
  });
  it('with every byte changed', () => {
    for (const { bytes } of documents) {
      for (const changed of changes(bytes, everyPosition(bytes))) expectAll(changed);
    }
  });
});

describeUnless(dataMissing, 'larger documents of the data (a sample of positions)', () => {
  const SAMPLE = 40;
  const large = smallDocuments(200_000).filter(({ bytes }) => bytes.length > SMALL);
  it('are there', () => expect(large.length).toBeGreaterThan(20));
  it('cut and changed', () => {
    for (const { bytes } of large) {
      const count = Math.ceil(SAMPLE / (1 + bytes.length / 10_000));
      for (const cut of cuts(bytes, somePositions(bytes, count))) expectAll(cut);
      for (const changed of changes(bytes, somePositions(bytes, count))) expectAll(changed);
    }
  });
});

describe('random bytes', () => {
  it('alone, and with a right length and terminator', () => {
    for (let round = 0; round < 5000; round++) {
      const bytes = randomBytes(random, random() % 60);
      expectAll(bytes);
      if (bytes.length < 5) continue;
      bytes.writeInt32LE(bytes.length);
      bytes[bytes.length - 1] = 0;
      expectAll(bytes);
    }
  });
  it('with element types that exist', () => {
    const types = Object.values(Type);
    for (let round = 0; round < 5000; round++) {
      const parts = Array.from({ length: 1 + (random() % 3) }, () =>
        element(types[random() % types.length], 'v', randomBytes(random, random() % 30)),
      );
      expectAll(withId(...parts));
    }
  });
});

describe('after an error', () => {
  const broken = [...changes(GOOD, everyPosition(GOOD)), ...cuts(GOOD, everyPosition(GOOD))];

  it('the converter is as good as new', () => {
    for (const bytes of broken) {
      attempt(() => converter.rawToSqliteRow(bytes));
      attempt(() => bufferToSqlite(bytes, 0));
      const result = converter.rawToSqliteRow(GOOD);
      if (!sameRow(result.row, GOOD_RESULT.row)) expect(result).toStrictEqual(GOOD_RESULT);
    }
  });

  it('nothing of an earlier document shows', () => {
    const texts = [];
    for (const bytes of broken) {
      expect(bufferToSqlite(SECRET_DOCUMENT, 0).s.length).toBe(SECRET.length * 400);
      for (const each of [bytes, withId(element(Type.DOCUMENT, 'd', bytes))]) {
        const { value, error } = attempt(() => bufferToSqlite(each, 0));
        texts.push(error ? `${error.message} ${error.path} ${error.stack}` : Object.entries(value).join());
      }
    }
    expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
  });

  it('nothing of an earlier document shows in short and growing texts', () => {
    for (let length = 0; length < 3000; length += 7) {
      bufferToSqlite(SECRET_DOCUMENT, 0);
      const value = '\x01"é'.repeat(length);
      const { a } = bufferToSqlite(
        withId(element(Type.ARRAY, 'a', payload.array([[Type.STRING, payload.string(value)]]))),
        0,
      );
      if (a !== JSON.stringify([value])) expect(a).toBe(JSON.stringify([value]));
    }
  });
});

describe('bounded time and memory', () => {
  it('lengths of 2 GiB allocate nothing', () => {
    const huge = [
      element(Type.STRING, 'v', payload.string('a', { length: 0x7fffffff })),
      element(Type.BINARY, 'v', payload.binary(0, 'a', { length: 0x7fffffff })),
      element(Type.DOCUMENT, 'v', document([], { length: 0x7fffffff })),
      element(Type.CODE_WITH_SCOPE, 'v', payload.codeWithScope('f', document([]), { length: 0x7fffffff })),
    ];
    const before = process.memoryUsage.rss();
    for (let round = 0; round < 1000; round++) {
      for (const part of huge) {
        const { error } = attempt(() => bufferToSqlite(withId(part), 0));
        expectBsonRowError(error, 1000);
      }
    }
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 2 ** 20);
  });

  // Four times as much: four times the time, or sixteen if it were the square.
  const MANY = 50_000;
  const FEW = MANY / 4;
  const LIMIT = 10;

  it('an error deep in a long document is found and located in a time that grows with its length', () => {
    const item = document([int('a', 1)]);
    const errorIn = (count) => {
      const items = Array(count).fill([Type.DOCUMENT, item]);
      const bytes = withId(element(Type.ARRAY, 'a', payload.array([...items, [0x80, []]])));
      return () => {
        const { error } = attempt(() => bufferToSqlite(bytes, 0));
        expect(error.path).toEqual(['a', String(count)]);
      };
    };
    expect(timeRatio(errorIn(FEW), errorIn(MANY))).toBeLessThan(LIMIT);
  });

  it('an _id of many names is read in a time that grows with their number', () => {
    const identityOf = (count) => {
      const names = Array.from({ length: count }, (_, index) => element(Type.NULL, `n${index}`));
      const wide = document([element(Type.DOCUMENT, '_id', document(names))]);
      return () => {
        const { idBuffer } = parseDocumentId(wide);
        expect(idBuffer.equals(wide)).toBe(true);
      };
    };
    expect(timeRatio(identityOf(FEW), identityOf(MANY))).toBeLessThan(LIMIT);
  });
});

describeUnless(dataMissing, 'files that must fail', () => {
  const names = listFiles('.', '.bson').filter((name) => splitDocuments(readBytes(name)).rest.length > 0);
  it('are there', () => expect(names.length).toBeGreaterThan(5));
  for (const name of names) {
    it(name, () => expectAll(splitDocuments(readBytes(name)).rest));
  }
});
