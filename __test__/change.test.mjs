/** `convertChange`: one pass over a change event equals the three steps, and what a caller may rely on besides. */
import { createRequire } from 'node:module';
import * as bson7 from 'bson7';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DateRenderMode, NativeSourceRowConverter, parseChangeDocument } from '../index.js';
import {
  document,
  element,
  int,
  nested,
  nestedDocument,
  payload,
  string,
  Type,
  withId,
} from './support/bson-bytes.mjs';
import { dataMissing } from './support/data.mjs';
import { dataEvents, eventElements } from './support/events.mjs';
import { splitElements } from './support/model.mjs';
import { attempt, expectBsonRowError, expectRow, expectSame } from './support/outcome.mjs';
import { createRandom } from './support/random.mjs';
import { describeUnless } from './support/skip.mjs';
import { threeSteps } from './support/three-steps.mjs';
import { TYPE_TABLE } from './support/type-table.mjs';

const bson6 = createRequire(import.meta.url)('bson');
const MODES = Object.values(DateRenderMode);
const BSONS = { 'bson 6': bson6, 'bson 7': bson7 };
const RUNS = 1500;
/** A sequence of names is made into an object in one way when it is new, in another when it is known. */
const SIGHTS = 3;
const random = createRandom();

const DOCUMENT = withId(string('s', 'text'), nested('o', int('n', 1)));
const ROW = { _id: 1n, s: 'text', o: '{"n":1}' };
const TOKEN = nested('_id', string('_data', '8265'));
const INSERT = string('operationType', 'insert');
const FULL = element(Type.DOCUMENT, 'fullDocument', DOCUMENT);
const BEFORE = element(Type.DOCUMENT, 'fullDocumentBeforeChange', DOCUMENT);

const converter = new NativeSourceRowConverter(0);
const withDescription = new NativeSourceRowConverter(0, { updateDescription: true });
const strict = new NativeSourceRowConverter(0, { strict: true });
const convert = (...elements) => converter.convertChange(document(elements));

/** Converters of all modes and both settings of `updateDescription`, with what they were made of. */
const convertersOf = (bson) =>
  MODES.flatMap((mode) =>
    [false, true].map((updateDescription) => ({
      options: { bson, mode, updateDescription },
      converter: new NativeSourceRowConverter(mode, { bson, updateDescription }),
    })),
  );

/** Expects what the three steps give, or that both refuse. */
function expectThreeSteps(event, { converter, options }, label) {
  const expected = attempt(() => threeSteps(event, options));
  const { value, error } = attempt(() => converter.convertChange(event));
  if (expected.error || error) {
    if (!expected.error) throw error;
    expect(error, `${label}: ${expected.error.message}`).toBeDefined();
    expectBsonRowError(error, event.length, label);
    return;
  }
  expectRow(value, expected.value, label);
  if (Object.hasOwn(value.documentKey ?? {}, '_id')) expect(value.replicaId).toBe(value.documentKey._id);
}

describeUnless(dataMissing, 'events of the data', () => {
  const events = dataMissing ? [] : dataEvents();

  it('are there', () => expect(events.length).toBeGreaterThan(900));

  for (const [name, bson] of Object.entries(BSONS)) {
    it(`equal the three steps with ${name}`, () => {
      const converters = convertersOf(bson);
      for (const { label, bytes } of events) {
        for (const each of converters) expectThreeSteps(bytes, each, label);
      }
    });
  }

  it('have a row and an identity where rawToSqliteRow gives them', () => {
    let rows = 0;
    for (const { label, bytes } of events) {
      const { fullDocument } = parseChangeDocument(bytes);
      const { row, replicaId } = converter.convertChange(bytes);
      if (!fullDocument) {
        expect(row, label).toBe(null);
        continue;
      }
      const { value: expected } = attempt(() => converter.rawToSqliteRow(fullDocument));
      if (expected === undefined) continue;
      expectRow(row, expected.row, label);
      expectSame(replicaId, expected.replicaId, label);
      rows++;
    }
    expect(rows).toBeGreaterThan(600);
  });

  it('equal the three steps with their fields in any order', () => {
    const converters = convertersOf(bson6);
    for (const { label, bytes } of events.filter((_, index) => index % 4 === 0)) {
      const elements = splitElements(bytes);
      expect(document(elements).equals(bytes), label).toBe(true);
      for (let at = elements.length - 1; at > 0; at--) {
        const other = random() % (at + 1);
        [elements[at], elements[other]] = [elements[other], elements[at]];
      }
      expectThreeSteps(document(elements), converters[random() % converters.length], `${label}, shuffled`);
    }
  });

  it('are not held by what comes of them', () => {
    for (const { label, bytes } of events) {
      const event = Uint8Array.from(bytes);
      const change = withDescription.convertChange(event);
      expectOwnMemory(change, event.buffer, label);
      event.fill(0xff);
      expectRow(change, withDescription.convertChange(bytes), label);
    }
  });

  it('pass strict reading', () => {
    for (const { label, bytes } of events) {
      expectRow(strict.convertChange(bytes), converter.convertChange(bytes), label);
    }
  });
});

/** Expects that no typed array in a value is over this memory. */
function expectOwnMemory(value, memory, label) {
  if (typeof value !== 'object' || value === null) return;
  if (ArrayBuffer.isView(value)) expect(value.buffer === memory, label).toBe(false);
  else for (const inner of Object.values(value)) expectOwnMemory(inner, memory, label);
}

describe('generated events', () => {
  for (const [name, bson] of Object.entries(BSONS)) {
    it(`equal the three steps with ${name} (${RUNS} events)`, () => {
      const converters = convertersOf(bson);
      let next = 0;
      fc.assert(
        fc.property(eventElements, (elements) => {
          const event = document(elements);
          const each = converters[next++ % converters.length];
          for (let sight = 0; sight < SIGHTS; sight++) expectThreeSteps(event, each);
        }),
        { numRuns: RUNS },
      );
    });
  }

  it('hold none of the event', () => {
    fc.assert(
      fc.property(eventElements, (elements) => {
        const event = Uint8Array.from(document(elements));
        const { value: change } = attempt(() => withDescription.convertChange(event));
        if (change === undefined) return;
        const again = withDescription.convertChange(event.slice());
        expectOwnMemory(change, event.buffer);
        event.fill(0xff);
        expectRow(change, again);
      }),
      { numRuns: 300 },
    );
  });
});

describe('row and rowBefore', () => {
  it('stand where their documents stood', () => {
    for (let sight = 0; sight < SIGHTS; sight++) {
      const change = convert(TOKEN, FULL, INSERT, BEFORE);
      expect(Object.keys(change)).toEqual(['_id', 'row', 'operationType', 'rowBefore', 'replicaId']);
      expectRow(change.row, ROW);
      expectRow(change.rowBefore, ROW);
    }
  });
  it('are null where the documents are; row also where there is none', () => {
    const nulls = convert(element(Type.NULL, 'fullDocument'), element(Type.NULL, 'fullDocumentBeforeChange'));
    expect(nulls).toStrictEqual({ row: null, rowBefore: null, replicaId: undefined });
    expect(convert(INSERT)).toStrictEqual({ operationType: 'insert', row: null, replicaId: undefined });
    expect(convert()).toStrictEqual({ row: null, replicaId: undefined });
  });
  it('are ordinary objects, own properties all of them', () => {
    const change = convert(element(Type.DOCUMENT, 'fullDocument', withId(int('__proto__', 5))));
    expect(Object.getPrototypeOf(change)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(change.row)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(change.row, '__proto__')?.value).toBe(5n);
  });
  for (const { name, type, payload: bytes } of TYPE_TABLE.filter(
    ({ type }) => type !== Type.DOCUMENT && type !== Type.NULL,
  )) {
    it(`a fullDocument that is none stays as it is: ${name}`, () => {
      const event = document([element(type, 'fullDocument', bytes), element(type, 'other', bytes)]);
      const { value: change } = attempt(() => converter.convertChange(event));
      const { value: parsed } = attempt(() => parseChangeDocument(event));
      if (parsed === undefined) {
        expect(change).toBeUndefined();
        return;
      }
      expect(change.row).toBe(null);
      expect(Object.keys(change)).toEqual(['fullDocument', 'other', 'row', 'replicaId']);
      expectSame(change.fullDocument, parsed.fullDocument);
    });
  }
  it('are dated as the converter is told', () => {
    const dated = document([
      element(Type.DOCUMENT, 'fullDocument', withId(element(Type.DATETIME, 'd', payload.datetime(0)))),
    ]);
    const dates = MODES.map((mode) => new NativeSourceRowConverter(mode).convertChange(dated).row.d);
    expect(dates).toEqual(['1970-01-01 00:00:00.000Z', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00Z']);
  });
  it('are not given up for fields of the event that have their names', () => {
    const own = ['row', 'rowBefore', 'replicaId'].map((name) => string(name, 'of the event'));
    const key = nested('documentKey', int('_id', 1));
    for (const elements of [
      [...own, FULL, BEFORE, key],
      [FULL, BEFORE, key, ...own],
    ]) {
      for (let sight = 0; sight < SIGHTS; sight++) {
        const change = convert(...elements);
        expectRow(change.row, ROW);
        expectRow(change.rowBefore, ROW);
        expect(change.replicaId).toBe(1);
      }
    }
    expect(convert(...own).row).toBe(null);
    expect(convert(...own).replicaId).toBe(undefined);
  });
});

describe('replicaId', () => {
  const oid = '0102030405060708090a0b0c';
  const idElement = element(Type.OBJECT_ID, '_id', payload.objectId(oid));

  it('is the very value of documentKey, never a shard key', () => {
    for (let sight = 0; sight < SIGHTS; sight++) {
      const change = convert(
        TOKEN,
        nested('documentKey', string('region', 'eu'), idElement, int('z', 3)),
        FULL,
      );
      expect(Object.keys(change.documentKey)).toEqual(['region', '_id', 'z']);
      expect(change.replicaId).toBe(change.documentKey._id);
      expectSame(change.replicaId, new bson6.ObjectId(oid));
    }
  });
  it('is that of documentKey although the document has another', () => {
    expect(convert(FULL, nested('documentKey', int('_id', 7))).replicaId).toBe(7);
    expect(convert(nested('documentKey', int('_id', 7)), FULL).replicaId).toBe(7);
  });
  it("is the document's own without documentKey, or where that has no _id", () => {
    expect(convert(FULL).replicaId).toBe(1);
    expect(convert(nested('documentKey', string('region', 'eu')), FULL).replicaId).toBe(1);
    expect(convert(element(Type.NULL, 'documentKey'), FULL).replicaId).toBe(1);
    expect(convert(string('documentKey', 'eu'), FULL).replicaId).toBe(1);
  });
  it('is undefined where nothing tells it', () => {
    expect(convert(BEFORE).replicaId).toBe(undefined);
    expect(convert(nested('documentKey', int('x', 1))).replicaId).toBe(undefined);
    expectRow(convert(BEFORE, element(Type.NULL, 'fullDocument')).rowBefore, ROW);
  });
  it('is not that of a document inside another field', () => {
    expect(convert(nested('other', nested('documentKey', int('_id', 7)))).replicaId).toBe(undefined);
    expect(convert(nested('documentKey', nested('a', int('_id', 7)))).replicaId).toBe(undefined);
  });
  it('is of the last documentKey and the last document, as the fields are', () => {
    const first = nested('documentKey', int('_id', 1));
    expect(convert(first, nested('documentKey', int('_id', 2))).replicaId).toBe(2);
    for (const last of [
      element(Type.NULL, 'documentKey'),
      nested('documentKey', int('x', 2)),
      int('documentKey', 3),
    ]) {
      expect(convert(first, last).replicaId).toBe(undefined);
    }
    const change = convert(FULL, INSERT, element(Type.DOCUMENT, 'fullDocument', withId()));
    expectRow(change, { row: { _id: 1n }, operationType: 'insert', replicaId: 1 });
    expectRow(convert(FULL, element(Type.NULL, 'fullDocument')), { row: null, replicaId: undefined });
  });
  for (const { name, type, payload: bytes } of TYPE_TABLE) {
    it(`of each type: ${name}`, () => {
      const event = document([nested('documentKey', int('k', 1), element(type, '_id', bytes))]);
      const alone = document([element(type, '_id', bytes)]);
      for (const bson of Object.values(BSONS)) {
        const onBson = new NativeSourceRowConverter(0, { bson });
        const { value: change, error } = attempt(() => onBson.convertChange(event));
        const expected = attempt(() => onBson.rawToSqliteRow(alone));
        if (expected.error) {
          expect(error?.message).toBe(expected.error.message);
          expect(error.code).toBe(expected.error.code);
          continue;
        }
        if (error) throw error;
        expectSame(change.replicaId, expected.value.replicaId);
        expect(change.replicaId).toBe(change.documentKey._id);
      }
    });
  }
});

describe('updateDescription', () => {
  const description = document([nested('updatedFields', int('a', 1)), int('x', 1)]);
  const event = document([TOKEN, element(Type.DOCUMENT, 'updateDescription', description), INSERT]);

  it('is absent unless asked for', () => {
    expect(Object.keys(converter.convertChange(event))).toEqual(['_id', 'operationType', 'row', 'replicaId']);
  });
  it('is a Buffer of its own memory, if asked for', () => {
    const { updateDescription } = withDescription.convertChange(event);
    expect(Buffer.isBuffer(updateDescription) && updateDescription.equals(description)).toBe(true);
    expect(updateDescription.buffer).not.toBe(event.buffer);
  });
  it('is absent whatever its type', () => {
    for (const { type, name, payload: bytes } of TYPE_TABLE) {
      const change = convert(element(type, 'updateDescription', bytes), INSERT);
      expect(Object.keys(change), name).toEqual(['operationType', 'row', 'replicaId']);
    }
  });
  it('is not read: what is wrong inside it does not matter', () => {
    const wrong = element(Type.DOCUMENT, 'updateDescription', document([Buffer.of(0x77, 0x61, 0)]));
    expect(convert(wrong, INSERT).operationType).toBe('insert');
  });
});

describe('other fields', () => {
  it('an operationType that nobody knows', () => {
    expect(convert(string('operationType', 'teleport'), FULL).operationType).toBe('teleport');
  });
  it('documents are Buffers, in arrays, too', () => {
    const inner = document([int('a', 1)]);
    const parts = [
      element(Type.DOCUMENT, 'operationDescription', inner),
      element(Type.ARRAY, 'list', payload.array([[Type.DOCUMENT, inner]])),
    ];
    for (let sight = 0; sight < SIGHTS; sight++) {
      const event = document(parts);
      const change = converter.convertChange(event);
      expectSame(change.operationDescription, inner);
      expectSame(change.list, [inner]);
      expectOwnMemory(change, event.buffer);
    }
  });
  describe.each(Object.entries(BSONS))('as the oracle reads them, with %s', (_name, bson) => {
    const converter = new NativeSourceRowConverter(0, { bson });
    const text = payload.string([0x61, 0xff]);
    const inner = document([string('s', [0x61, 0xff])]);
    const { Code, DBRef, ObjectId } = bson;
    const digits = '01'.repeat(12);

    it.each([
      ['a symbol', Type.SYMBOL, text, 'a\ufffd'],
      ['code', Type.CODE, text, new Code('a\ufffd')],
      [
        'code with scope',
        Type.CODE_WITH_SCOPE,
        payload.codeWithScope([0x61, 0xff], inner),
        new Code('a\ufffd', { s: 'a\ufffd' }),
      ],
      [
        'a document in a scope',
        Type.CODE_WITH_SCOPE,
        payload.codeWithScope('f', document([element(Type.DOCUMENT, 'in', inner)])),
        new Code('f', { in: inner }),
      ],
      [
        'DBPointer',
        Type.DB_POINTER,
        Buffer.concat([text, Buffer.from(digits, 'hex')]),
        new DBRef('a\ufffd', new ObjectId(digits)),
      ],
      [
        'an array',
        Type.ARRAY,
        payload.array([
          [Type.STRING, text],
          [Type.DOCUMENT, inner],
        ]),
        ['a\ufffd', inner],
      ],
    ])('%s of ill-formed text', (_kind, type, bytes, expected) => {
      const event = document([INSERT, element(type, 'x', bytes)]);
      expectSame(converter.convertChange(event).x, expected);
      expectSame(parseChangeDocument(event, { bson }).x, expected);
    });
  });
  it('a name that stands twice keeps its first place and takes its last value', () => {
    for (let sight = 0; sight < SIGHTS; sight++) {
      const change = convert(int('a', 1), INSERT, string('a', 'last'));
      expectRow(change, { a: 'last', operationType: 'insert', row: null, replicaId: undefined });
    }
  });
  it('more ObjectIds than pass at once', () => {
    const ids = Array.from({ length: 40 }, (_, index) =>
      element(Type.OBJECT_ID, `id${index}`, payload.objectId(index.toString(16).padStart(24, '0'))),
    );
    for (let sight = 0; sight < SIGHTS; sight++) {
      const change = convert(
        ...ids,
        nested('documentKey', ids[39], element(Type.OBJECT_ID, '_id', ids[7].subarray(-12))),
      );
      expect(change.replicaId).toBe(change.documentKey._id);
      expect(change.replicaId.toHexString()).toBe('7'.padStart(24, '0'));
      ids.forEach((_, index) => {
        expect(change[`id${index}`].toHexString()).toBe(index.toString(16).padStart(24, '0'));
      });
    }
  });
});

describe('errors', () => {
  const PLACES = [
    {
      title: 'in the document',
      wrap: (bad) => nested('fullDocument', int('_id', 1), bad),
      path: ['fullDocument', 'v'],
    },
    {
      title: 'in the document before',
      wrap: (bad) => nested('fullDocumentBeforeChange', nested('o', bad)),
      path: ['fullDocumentBeforeChange', 'o', 'v'],
    },
    {
      title: 'in documentKey',
      wrap: (bad) => nested('documentKey', int('_id', 1), bad),
      path: ['documentKey', 'v'],
    },
    { title: 'in the token', wrap: (bad) => nested('_id', bad), path: ['_id', 'v'] },
    { title: 'in the event', wrap: (bad) => bad, path: ['v'] },
  ];
  const bad = element(Type.STRING, 'v', payload.string('needle', { length: 1000 }));
  for (const { title, wrap, path } of PLACES) {
    it(`${title}: code, offset in the whole event, path`, () => {
      const event = document([INSERT, string('note', 'before'), wrap(bad), int('after', 1)]);
      for (const convertEvent of [converter, withDescription]) {
        const { error } = attempt(() => convertEvent.convertChange(event));
        expect(error?.message).toBe('Invalid BSON string length');
        expect(error).toMatchObject({
          code: 'BSONROW_STRING_LENGTH',
          offset: event.indexOf('needle') - 4,
          path,
        });
      }
    });
  }
  it('a date out of range is a RangeError', () => {
    const date = element(Type.DATETIME, 'd', payload.datetime(2n ** 62n));
    const { error } = attempt(() => convert(INSERT, nested('fullDocument', date)));
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ code: 'BSONROW_TIME_VALUE', path: ['fullDocument', 'd'] });
  });
  it('an identity that would be lost', () => {
    const lossy = element(Type.STRING, '_id', payload.string([0xff]));
    expect(attempt(() => convert(nested('documentKey', lossy))).error).toMatchObject({
      code: 'BSONROW_ID_UTF8',
      path: ['documentKey', '_id'],
    });
    expect(attempt(() => convert(nested('fullDocument', lossy))).error).toMatchObject({
      code: 'BSONROW_ID_UTF8',
      path: ['fullDocument', '_id'],
    });
  });
  it('strict: what the specification forbids anywhere in the event', () => {
    for (const [code, event] of [
      ['BSONROW_TRAILING_BYTES', Buffer.concat([document([FULL]), Buffer.of(0)])],
      ['BSONROW_BOOLEAN', document([nested('updateDescription', element(Type.BOOLEAN, 'b', [2]))])],
      [
        'BSONROW_UTF8',
        document([nested('fullDocument', int('_id', 1), element(Type.STRING, 's', payload.string([0xff])))]),
      ],
    ]) {
      expect(attempt(() => strict.convertChange(event)).error?.code).toBe(code);
      expect(attempt(() => converter.convertChange(event)).error).toBeUndefined();
    }
  });
  it('strict: a document as deep as rawToSqliteRow takes it, and no deeper', () => {
    for (const field of ['fullDocument', 'fullDocumentBeforeChange']) {
      for (const [containers, code] of [
        [21, undefined],
        [22, 'BSONROW_DEPTH'],
      ]) {
        const deep = nestedDocument(containers - 1);
        const event = document([
          INSERT,
          element(Type.DOCUMENT, field, deep),
          nested('documentKey', int('_id', 1)),
        ]);
        for (const each of [strict, converter]) {
          const { value: expected, error: alone } = attempt(() => each.rawToSqliteRow(deep));
          const { value: change, error } = attempt(() => each.convertChange(event));
          expect([alone?.code, error?.code], `${field}, ${containers}`).toEqual([code, code]);
          if (error === undefined) {
            expectRow(field === 'fullDocument' ? change.row : change.rowBefore, expected.row);
            continue;
          }
          expect(error.offset).toBe(event.indexOf(deep) + alone.offset);
          expect(error.path).toEqual([field, ...alone.path]);
        }
      }
    }
  });
  it('a document without identity, where no documentKey tells it', () => {
    const nameless = nested('fullDocument', int('x', 1));
    for (const others of [
      [],
      [nested('documentKey', int('x', 1))],
      [element(Type.NULL, 'documentKey')],
      [BEFORE],
      [nested('other', int('_id', 1))],
    ]) {
      for (const elements of [
        [INSERT, nameless, ...others],
        [INSERT, ...others, nameless],
      ]) {
        const event = document(elements);
        const { error } = attempt(() => converter.convertChange(event));
        expectBsonRowError(error, event.length);
        expect(error.message).toBe('Attempt to parse document without _id');
        expect(error).toMatchObject({
          code: 'BSONROW_NO_ID',
          offset: event.indexOf('fullDocument\0') + 'fullDocument\0'.length,
          path: ['fullDocument'],
        });
      }
    }
    expectRow(convert(nameless, nested('documentKey', int('_id', 7))), {
      row: { x: 1n },
      documentKey: { _id: 7 },
      replicaId: 7,
    });
    expectRow(convert(nameless, element(Type.NULL, 'fullDocument')), { row: null, replicaId: undefined });
    expectRow(convert(nameless, FULL), { row: ROW, replicaId: 1 });
    expect(attempt(() => convert(FULL, nameless)).error?.code).toBe('BSONROW_NO_ID');
  });
  it('no Uint8Array, and a detached one', () => {
    const detached = new Uint8Array(8);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    for (const value of [
      undefined,
      null,
      5,
      'abc',
      {},
      [],
      new ArrayBuffer(5),
      new Uint16Array(5),
      detached,
    ]) {
      const { error } = attempt(() => converter.convertChange(value));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/\bevent\b/);
    }
  });
});

describe('malformed events', () => {
  const event = document([
    TOKEN,
    INSERT,
    element(Type.TIMESTAMP, 'clusterTime', payload.timestamp(7, 1)),
    FULL,
    BEFORE,
    nested('documentKey', string('k', 'x'), element(Type.OBJECT_ID, '_id', payload.objectId('0'.repeat(24)))),
    nested('updateDescription', int('a', 1)),
    element(Type.ARRAY, 'list', payload.array([[Type.NULL, '']])),
  ]);
  const [byDefault] = convertersOf(bson6);

  /** Equal to the three steps, or an error of the right shape; and then the converter is as good as new. */
  function expectEqualOrError(bytes) {
    expectThreeSteps(bytes, byDefault, bytes.toString('hex'));
    expectRow(byDefault.converter.convertChange(document([FULL])), { row: ROW, replicaId: 1 });
  }

  it('cut at each byte', () => {
    for (let at = 0; at < event.length; at++) {
      const cut = Buffer.from(event.subarray(0, at));
      expectEqualOrError(cut);
      if (at < 5) continue;
      cut.writeInt32LE(at);
      expectEqualOrError(cut);
      cut[at - 1] = 0;
      expectEqualOrError(cut);
    }
  });
  it('changed at each byte', () => {
    for (let at = 0; at < event.length; at++) {
      for (const byte of [event[at] ^ 1, event[at] ^ 0x80, 0, random() & 0xff]) {
        const changed = Buffer.from(event);
        changed[at] = byte;
        expectEqualOrError(changed);
      }
    }
  });
  it.skipIf(dataMissing)('events of the data changed at random bytes', () => {
    for (const { bytes } of dataEvents().filter((_, index) => index % 9 === 0)) {
      for (let round = 0; round < 20; round++) {
        const changed = Buffer.from(bytes);
        changed[random() % changed.length] = random();
        expectEqualOrError(changed);
      }
    }
  });
});
