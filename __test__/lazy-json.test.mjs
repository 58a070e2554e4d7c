/**
 * The option `lazyJson`: rows are those without it, but their JSON text is made when it is read; the source lives as
 * long as that may happen, and what it has become by then is read as any untrusted bytes.
 */
import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DateRenderMode, NativeSourceRowConverter } from '../index.js';
import { document, element, int, nested, payload, string, Type } from './support/bson-bytes.mjs';
import { dataMissing, listFiles, readBytes, splitDocuments } from './support/data.mjs';
import { dataEvents, documentWithId, eventElements } from './support/events.mjs';
import { attempt, expectRow, expectSame } from './support/outcome.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { runScript } from './support/run-script.mjs';
import { describeUnless } from './support/skip.mjs';
import { inMode, TYPE_TABLE } from './support/type-table.mjs';

const bson = createRequire(import.meta.url)('bson');
const MODE = DateRenderMode.ISO_MILLISECONDS;
const eager = new NativeSourceRowConverter(MODE, { updateDescription: true });
const lazy = new NativeSourceRowConverter(MODE, { updateDescription: true, lazyJson: true });

const ORDER = document([
  int('_id', 1),
  nested('address', string('city', 'Oslo')),
  string('status', 'placed'),
  element(Type.ARRAY, 'items', payload.array([[Type.INT32, payload.int32(5)]])),
  int('total', 12),
]);
const ROW = { _id: 1n, address: '{"city":"Oslo"}', status: 'placed', items: '[5]', total: 12n };
const orderRow = () => lazy.rawToSqliteRow(Uint8Array.from(ORDER)).row;

const isAccessor = (row, name) => Object.getOwnPropertyDescriptor(row, name).get !== undefined;
const accessorsOf = (row) => Object.keys(row).filter((name) => isAccessor(row, name));

/** A row that is read, of plain properties. */
const read = (row) => (row === null || row === undefined ? row : { ...row });
/** A change whose rows are read; its fields in their order. */
const readChange = (change) => {
  const plain = { ...change };
  for (const name of ['row', 'rowBefore']) if (Object.hasOwn(plain, name)) plain[name] = read(plain[name]);
  return plain;
};

describe('a lazy row', () => {
  it('has accessors where the column is JSON text, and nowhere else', () => {
    for (const entry of TYPE_TABLE) {
      const source = document([int('_id', 1), element(entry.type, 'v', entry.payload), int('after', 2)]);
      const { row } = lazy.rawToSqliteRow(source);
      const isJson = ['DOCUMENT', 'ARRAY', 'REGEX', 'DB_POINTER', 'CODE', 'CODE_WITH_SCOPE'].some(
        (name) => Type[name] === entry.type,
      );
      expect(accessorsOf(row), entry.name).toEqual(isJson ? ['v'] : []);
      expectRow(row, { _id: 1n, v: inMode(entry.column, MODE), after: 2n }, entry.name);
    }
  });

  it('is an ordinary object whose accessors are its own, enumerable and configurable', () => {
    for (let round = 0; round < 3; round++) {
      const row = orderRow();
      expect(Object.keys(row)).toEqual(Object.keys(ROW));
      expect(Reflect.ownKeys(row)).toEqual(Object.keys(ROW));
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
      expect(accessorsOf(row)).toEqual(['address', 'items']);
      const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(row, 'items');
      expect([typeof get, typeof set, enumerable, configurable]).toEqual([
        'function',
        'function',
        true,
        true,
      ]);
    }
  });

  it('equals the eager row however it is read', () => {
    expectRow(orderRow(), ROW);
    expect(orderRow()).toEqual(ROW);
    expect({ ...orderRow() }).toStrictEqual(ROW);
    expect(Object.assign({}, orderRow())).toStrictEqual(ROW);
    expect(Object.entries(orderRow())).toEqual(Object.entries(ROW));
    expect(structuredClone(orderRow())).toStrictEqual(ROW);
    expect(accessorsOf(structuredClone(orderRow()))).toEqual([]);
    const withoutBigints = (row) =>
      JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
    expect(withoutBigints(orderRow())).toBe(withoutBigints(ROW));
    const { items, ...others } = orderRow();
    expect([items, others]).toStrictEqual([
      '[5]',
      { _id: 1n, address: '{"city":"Oslo"}', status: 'placed', total: 12n },
    ]);
    expect(inspect(orderRow(), { getters: true })).toContain(`'{"city":"Oslo"}'`);
  });

  it('keeps the text that was read', () => {
    const source = Uint8Array.from(ORDER);
    const { row } = lazy.rawToSqliteRow(source);
    expect(row.items).toBe('[5]');
    source.fill(0xff);
    expect(row.items).toBe('[5]');
    expect(() => row.address).toThrow();
  });

  it('takes what is assigned', () => {
    const row = orderRow();
    row.items = 5n;
    row.address = null;
    expect([row.items, row.address, accessorsOf(row)]).toEqual([5n, null, ['address', 'items']]);
    row.items = undefined;
    expect(row.items).toBe(undefined);
    expectRow(row, { ...ROW, address: null, items: undefined });
    const other = orderRow();
    expect(other.items).toBe('[5]');
    other.items = -1;
    expect([other.items, other.address]).toEqual([-1, '{"city":"Oslo"}']);
    delete other.items;
    expect(Object.keys(other)).toEqual(['_id', 'address', 'status', 'total']);
    Object.defineProperty(other, 'address', { value: 'defined' });
    expect(other.address).toBe('defined');
  });

  it('gives an object that inherits from it what a plain row would', () => {
    const row = orderRow();
    const heir = Object.create(row);
    expect(heir.items).toBe('[5]');
    heir.address = 'own';
    expect([Object.keys(heir), heir.address, row.address]).toEqual([['address'], 'own', '{"city":"Oslo"}']);
  });

  it('can be read whatever its prototype has become', () => {
    const row = Object.setPrototypeOf(orderRow(), null);
    expect(row.items).toBe('[5]');
    expect(Object.create(row).address).toBe('{"city":"Oslo"}');
  });

  it('cannot be read through what does not lead to it', () => {
    const row = orderRow();
    for (const receiver of [new Proxy(row, {}), {}, 5, null, undefined]) {
      const { error } = attempt(() =>
        Reflect.apply(Object.getOwnPropertyDescriptor(row, 'items').get, receiver, []),
      );
      expect(error).toBeInstanceOf(TypeError);
      expect(error.code).toBe('BSONROW_INVALID_ARGUMENT');
    }
    expect(row.items).toBe('[5]');
  });

  it('has columns of any name, kind and number', () => {
    const names = ['__proto__', 'constructor', 'toString', 'a"b', '\u2028', '1', 'a b', 'é', 'x'];
    const kinds = [(name) => nested(name, int('n', 1)), (name) => int(name, 1)];
    for (const first of [0, 1]) {
      const parts = names.flatMap((name, index) => [kinds[(index + first) % 2](name)]);
      const source = document([int('_id', 1), ...parts]);
      for (let round = 0; round < 3; round++) {
        const { row } = lazy.rawToSqliteRow(source);
        expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
        expectRow(row, eager.rawToSqliteRow(source).row);
      }
    }
    for (const count of [150, 199, 200, 500]) {
      const source = document([
        int('_id', 1),
        ...Array.from({ length: count }, (_, index) => nested(`name ${index}`, int('n', index))),
      ]);
      for (let round = 0; round < 3; round++) {
        expectRow(lazy.rawToSqliteRow(source).row, eager.rawToSqliteRow(source).row, `${count} columns`);
      }
    }
  });

  it('keeps a repeated name in its first place, with its last value', () => {
    const object = (number) => nested('a', int('n', number));
    for (const parts of [
      [object(1), object(2)],
      [object(1), int('a', 2)],
      [int('a', 1), object(2)],
      [object(1), int('a', 2), object(3)],
      [object(1), int('a', 2), nested('c', int('n', 4))],
    ]) {
      const source = document([int('_id', 1), parts[0], int('b', 9), ...parts.slice(1), string('z', 'end')]);
      for (let round = 0; round < 3; round++) {
        expectRow(lazy.rawToSqliteRow(source).row, eager.rawToSqliteRow(source).row);
      }
    }
  });

  it('does not ask what Object.prototype has', () => {
    const results = runScript(`
      const { serialize } = require('bson');
      const source = serialize({ _id: 1, o: {}, total: 2, status: 'x' });
      const converter = new addon.NativeSourceRowConverter(1, { lazyJson: true });
      const calls = [];
      for (const name of ['total', 'o']) {
        Object.defineProperty(Object.prototype, name, { set() { calls.push(name); }, get() {}, configurable: true });
      }
      Object.defineProperty(Object.prototype, 'status', { value: 5, writable: false, configurable: true });
      const keys = Array.from({ length: 3 }, () => Object.keys(converter.rawToSqliteRow(source).row));
      report([keys, calls]);
    `);
    expect(results).toEqual([Array(3).fill(['_id', 'o', 'total', 'status']), []]);
  });

  it('is the same where Object.prototype has what a property descriptor may have', () => {
    const results = runScript(`
      const { serialize } = require('bson');
      const source = serialize({ _id: 1, o: { n: 1 }, total: 2 });
      const converter = new addon.NativeSourceRowConverter(1, { lazyJson: true });
      const names = ['value', 'get', 'writable'];
      for (const name of names) Object.prototype[name] = () => 5;
      const rows = Array.from({ length: 3 }, () => converter.rawToSqliteRow(source).row);
      const texts = rows.map((row) => row.o);
      rows[0].o = 'own';
      const heir = Object.create(rows[1]);
      heir.o = 'heir';
      for (const name of names) delete Object.prototype[name];
      report([texts, rows[0].o, Object.getOwnPropertyDescriptor(heir, 'o')]);
    `);
    const heir = { value: 'heir', writable: true, enumerable: true, configurable: true };
    expect(results).toEqual([Array(3).fill('{"n":1}'), 'own', heir]);
  });

  it('is the same where no code may be generated, but not fast', () => {
    const results = runScript(
      `
      const { serialize } = require('bson');
      const source = serialize({ _id: 1, o: { n: [1] }, total: 2, a: [true], status: 'x' });
      const converter = new addon.NativeSourceRowConverter(1, { lazyJson: true });
      const rows = Array.from({ length: 3 }, () => converter.rawToSqliteRow(source).row);
      const getters = rows.map((row) => Object.keys(row).filter((name) => Object.getOwnPropertyDescriptor(row, name).get));
      report([getters, rows.map((row) => Object.entries(row).map(([name, value]) => [name, String(value)]))]);
      `,
      ['--disallow-code-generation-from-strings'],
    );
    const columns = [
      ['_id', '1'],
      ['o', '{"n":[1]}'],
      ['total', '2'],
      ['a', '[1]'],
      ['status', 'x'],
    ];
    expect(results).toEqual([Array(3).fill(['o', 'a']), Array(3).fill(columns)]);
  });

  it("is in V8's fast mode, with text that is read and without", () => {
    const fast = runScript(
      `
      const { serialize } = require('bson');
      const converter = new addon.NativeSourceRowConverter(1, { lazyJson: true });
      const isFast = (row) => %HasFastProperties(row);
      const answers = [];
      for (let round = 0; round < 20; round++) {
        const { row } = converter.rawToSqliteRow(serialize({ _id: 1, o: {}, total: 2, a: [1], b: [2], status: 'x', d: 1.5 }));
        answers.push(isFast(row), row.a.length === 3, isFast(row));
        row.o = null;
        answers.push(isFast(row));
      }
      report(answers.every((answer) => answer === true));
      `,
      ['--allow-natives-syntax'],
    );
    expect(fast).toBe(true);
  });
});

describe('every method gives what it gives without the option', () => {
  const before = document([int('_id', 1), nested('o', string('x', 'before'))]);
  const event = document([
    nested('_id', string('_data', '82')),
    string('operationType', 'update'),
    element(Type.DOCUMENT, 'fullDocument', ORDER),
    element(Type.DOCUMENT, 'fullDocumentBeforeChange', before),
    nested('documentKey', int('_id', 5)),
    nested('updateDescription', string('address', 'kept')),
  ]);

  it('rawToSqliteRow and documentToSqliteRow', () => {
    const { row, replicaId } = lazy.rawToSqliteRow(ORDER);
    expectRow(row, ROW);
    expect(replicaId).toBe(1);
    const fromObject = lazy.documentToSqliteRow(bson.deserialize(ORDER));
    expect(accessorsOf(fromObject)).toEqual(['address', 'items']);
    expectRow(fromObject, ROW);
  });

  it('convertChange', () => {
    for (let round = 0; round < 3; round++) {
      const change = lazy.convertChange(event);
      expect(accessorsOf(change)).toEqual([]);
      expect([accessorsOf(change.row), accessorsOf(change.rowBefore)]).toEqual([['address', 'items'], ['o']]);
      expectSame(readChange(change), eager.convertChange(event));
    }
  });

  it('convertBatch and convertDocuments', () => {
    const documents = Array.from({ length: 100 }, (_, index) =>
      document([int('_id', index), ...(index % 5 ? [nested('o', int('n', index))] : []), int('last', index)]),
    );
    const expected = eager.convertDocuments(documents);
    const readAll = (results) => results.map(({ row, replicaId }) => ({ row: read(row), replicaId }));
    for (let round = 0; round < 3; round++) {
      const results = lazy.convertDocuments(documents);
      expect(accessorsOf(results[1].row)).toEqual(['o']);
      expectSame(readAll(results), expected);
      const reply = lazy.convertBatch(cursorReply(batchOf(documents)));
      expectSame(readAll(reply.documents), expected);
      const events = Array.from({ length: 70 }, () => event);
      const changes = lazy.convertBatch(cursorReply(batchOf(events), { isChangeStream: true })).changes;
      expectSame(
        changes.map(readChange),
        events.map((bytes) => eager.convertChange(bytes)),
      );
    }
  });

  it('convertBatchAsync and convertDocumentsAsync', async () => {
    // Some with a layout of their own, which are made one by one.
    const documents = Array.from({ length: 200 }, (_, index) =>
      document([
        int('_id', index),
        ...(index % 5 ? [nested('o', int('n', index))] : []),
        ...(index % 11 ? [] : [nested(`only ${index}`, int('n', index))]),
        int('last', index),
      ]),
    );
    const events = documents.map((bytes) =>
      document([
        string('operationType', 'insert'),
        element(Type.DOCUMENT, 'fullDocument', bytes),
        nested('documentKey', int('_id', 5)),
      ]),
    );
    const readAll = (results) => results.map(({ row, replicaId }) => ({ row: read(row), replicaId }));
    const [reply, changes] = [
      cursorReply(batchOf(documents)),
      cursorReply(batchOf(events), { isChangeStream: true }),
    ];
    const shared = new Uint8Array(new SharedArrayBuffer(reply.length));
    shared.set(reply);
    for (let round = 0; round < 3; round++) {
      const results = await lazy.convertDocumentsAsync(documents);
      expect(accessorsOf(results[1].row)).toEqual(['o']);
      expectSame(readAll(results), eager.convertDocuments(documents));
      for (const source of [reply, shared]) {
        const batch = await lazy.convertBatchAsync(source);
        expectSame(readAll(batch.documents), eager.convertBatch(reply).documents);
      }
      const batch = await lazy.convertBatchAsync(changes);
      expectSame(batch.changes.map(readChange), eager.convertBatch(changes).changes);
    }
  });

  it('with columns, of names and of paths', () => {
    const select = (columns) =>
      new NativeSourceRowConverter(MODE, { columns, lazyJson: true }).rawToSqliteRow(ORDER).row;
    const byName = select(['items', 'total']);
    expect(accessorsOf(byName)).toEqual(['items']);
    expectRow(byName, { items: '[5]', total: 12n });
    const byPath = select({ i: 'items', a: 'address', c: 'address.city', n: 'absent', f: 'items.0' });
    expect(accessorsOf(byPath)).toEqual(['i', 'a']);
    expectRow(byPath, { i: '[5]', a: '{"city":"Oslo"}', c: 'Oslo', n: null, f: 5n });
    const deep = document([
      int('_id', 1),
      nested('o', nested('p', int('x', 1), nested('q', int('y', 2)))),
      int('z', 3),
    ]);
    const converter = new NativeSourceRowConverter(MODE, {
      columns: { p: 'o.p', q: 'o.p.q' },
      lazyJson: true,
    });
    expectRow(converter.rawToSqliteRow(deep).row, { p: '{"x":1,"q":{"y":2}}', q: '{"y":2}' });
  });

  it('with zeroCopy, and with each mode of dates', () => {
    const text = 'x'.repeat(20_000);
    const source = document([
      int('_id', 1),
      string('s', text),
      nested('o', element(Type.DATETIME, 'd', payload.datetime(0))),
    ]);
    for (const mode of Object.values(DateRenderMode)) {
      const expected = new NativeSourceRowConverter(mode).rawToSqliteRow(source).row;
      for (const zeroCopy of [false, true]) {
        const converter = new NativeSourceRowConverter(mode, { lazyJson: true, zeroCopy });
        expectRow(converter.rawToSqliteRow(source).row, expected);
      }
    }
  });

  it('on generated documents and events', () => {
    fc.assert(
      fc.property(documentWithId, (source) => {
        const expected = attempt(() => eager.rawToSqliteRow(source));
        if (expected.error !== undefined) return;
        const { row, replicaId } = lazy.rawToSqliteRow(source);
        expectRow(read(row), expected.value.row);
        expectSame(replicaId, expected.value.replicaId);
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(eventElements, (parts) => {
        const source = document(parts);
        const expected = attempt(() => eager.convertChange(source));
        if (expected.error !== undefined) return;
        expectSame(readChange(lazy.convertChange(source)), expected.value);
      }),
      { numRuns: 500 },
    );
  });

  describeUnless(dataMissing, 'on real data', () => {
    for (const name of listFiles('datasets', '.bson', '.bson.gz').slice(0, 6)) {
      it(name, () => {
        for (const source of splitDocuments(readBytes(name)).documents.slice(0, 300)) {
          const expected = attempt(() => eager.rawToSqliteRow(source).row);
          if (expected.error === undefined) expectRow(read(lazy.rawToSqliteRow(source).row), expected.value);
        }
      });
    }
    it('events', () => {
      for (const { label, bytes } of dataEvents().slice(0, 1000)) {
        const expected = attempt(() => eager.convertChange(bytes));
        if (expected.error === undefined)
          expectSame(readChange(lazy.convertChange(bytes)), expected.value, label);
      }
    });
  });
});

describe('malformed bytes', () => {
  const bad = nested('bad', string('ok', 'x'), nested('deeper', element(0x99, 'x')));
  const source = document([int('_id', 1), nested('good', int('n', 1)), bad]);
  const at = source.indexOf(0x99);
  const place = { code: 'BSONROW_NESTED_TYPE', offset: at, path: ['bad', 'deeper', 'x'] };
  const errorAt = (row) => {
    const { error } = attempt(() => row.bad);
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toBe('Unsupported BSON nested type: 0x99');
    return { code: error.code, offset: error.offset, path: error.path };
  };

  it('throw where they are read, each time, as the conversion would have', () => {
    const { row } = lazy.rawToSqliteRow(source);
    expect(errorAt(row)).toEqual(place);
    expect(errorAt(row)).toEqual(place);
    expect(row.good).toBe('{"n":1}');
    expect(() => structuredClone(row)).toThrow('Unsupported BSON nested type: 0x99');
    row.bad = 'mended';
    expectRow(row, { _id: 1n, good: '{"n":1}', bad: 'mended' });
    const { error } = attempt(() => eager.rawToSqliteRow(source));
    expect({ code: error.code, offset: error.offset, path: error.path }).toEqual(place);
  });

  it('have their place in the whole source of a batch that another thread has read', async () => {
    const reply = cursorReply(batchOf([ORDER, source]));
    const inReply = { ...place, offset: reply.indexOf(0x99), path: ['nextBatch', '1', ...place.path] };
    expect(errorAt((await lazy.convertBatchAsync(reply)).documents[1].row)).toEqual(inReply);
    expect(errorAt((await lazy.convertDocumentsAsync([ORDER, source]))[1].row)).toEqual(place);
  });

  it('have their place in the whole source of an event or batch', () => {
    const event = document([
      string('operationType', 'insert'),
      element(Type.DOCUMENT, 'fullDocument', source),
    ]);
    const inEvent = { ...place, offset: event.indexOf(0x99), path: ['fullDocument', ...place.path] };
    expect(errorAt(lazy.convertChange(event).row)).toEqual(inEvent);
    const reply = cursorReply(batchOf([ORDER, source]));
    const inReply = { ...place, offset: reply.indexOf(0x99), path: ['nextBatch', '1', ...place.path] };
    expect(errorAt(lazy.convertBatch(reply).documents[1].row)).toEqual(inReply);
    const changes = cursorReply(batchOf([event, event]), { isChangeStream: true });
    const inChange = {
      ...place,
      offset: changes.lastIndexOf(0x99),
      path: ['nextBatch', '1', ...inEvent.path],
    };
    expect(errorAt(lazy.convertBatch(changes).changes[1].row)).toEqual(inChange);
    expect(errorAt(lazy.convertDocuments([ORDER, source])[1].row)).toEqual(place);
  });

  it('that are no more than a wrong length throw at the conversion', () => {
    const long = document([int('_id', 1), element(Type.DOCUMENT, 'o', document([], { length: 99 }))]);
    expect(() => lazy.rawToSqliteRow(long)).toThrow('Invalid BSON document length');
    expect(() => lazy.rawToSqliteRow(document([int('_id', 1), element(0x99, 'x')]))).toThrow(
      'Unsupported BSON type for skip: 0x99',
    );
  });

  it('throw at the conversion where it is strict', () => {
    const strict = new NativeSourceRowConverter(MODE, { lazyJson: true, strict: true });
    expect(() => strict.rawToSqliteRow(source)).toThrow('Unsupported BSON nested type: 0x99');
    expectRow(strict.rawToSqliteRow(ORDER).row, ROW);
  });

  it('are those that the source has become', () => {
    const good = document([
      int('_id', 1),
      nested('a', string('s', 'text')),
      nested('b', int('n', 1)),
      int('z', 9),
    ]);
    for (let offset = 0; offset < good.length; offset++) {
      for (const byte of [0x00, 0x03, 0x7f, 0x80, 0xff]) {
        const bytes = Uint8Array.from(good);
        const { row } = lazy.rawToSqliteRow(bytes);
        bytes[offset] = byte;
        for (const name of ['a', 'b']) {
          const { value, error } = attempt(() => row[name]);
          if (error === undefined) expect(value).toMatch(/^\{.*\}$/s);
          else {
            expect(error.code).toMatch(/^BSONROW_/);
            expect(error.offset).toBeLessThan(good.length);
          }
        }
      }
    }
  });
});

describe('the memory of the source', () => {
  it('must not be detached before the text is read', () => {
    const bytes = Uint8Array.from(ORDER);
    const { row } = lazy.rawToSqliteRow(bytes);
    expect(row.items).toBe('[5]');
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect(row.items).toBe('[5]');
    const { error } = attempt(() => row.address);
    expect(error).toBeInstanceOf(TypeError);
    expect([error.code, error.message]).toEqual([
      'BSONROW_INVALID_ARGUMENT',
      'The source of a column that was not read yet must be a Buffer or Uint8Array that is not detached or shortened',
    ]);
  });

  it('may be resizable, but not be made shorter', () => {
    const buffer = new ArrayBuffer(ORDER.length, { maxByteLength: 1000 });
    const bytes = new Uint8Array(buffer);
    bytes.set(ORDER);
    const { row } = lazy.rawToSqliteRow(bytes);
    buffer.resize(1000);
    expect(row.items).toBe('[5]');
    buffer.resize(20);
    expect(() => row.address).toThrow(TypeError);
  });

  it('may be shared', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(ORDER.length + 20), 10, ORDER.length);
    bytes.set(ORDER);
    expectRow(lazy.rawToSqliteRow(bytes).row, ROW);
    const reply = cursorReply(batchOf([ORDER, ORDER]));
    const shared = new Uint8Array(new SharedArrayBuffer(reply.length));
    shared.set(reply);
    const { documents } = lazy.convertBatch(shared);
    for (const { row } of documents) expectRow(row, ROW);
  });

  it('may be a part of a larger one, and longer than the document', () => {
    const larger = Buffer.concat([Buffer.alloc(13, 0xff), ORDER, Buffer.alloc(9, 0xff)]);
    expectRow(lazy.rawToSqliteRow(larger.subarray(13)).row, ROW);
  });

  it('is kept while something is unread, and no longer', () => {
    const lives = runScript(
      `
      const { serialize } = require('bson');
      const make = (document) => Uint8Array.from(serialize(document));
      const converter = new addon.NativeSourceRowConverter(1, { lazyJson: true });
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      const collect = async () => { for (let round = 0; round < 6; round++) { gc(); await turn(); } };
      const isAlive = (weak) => weak.deref() !== undefined;
      /** Whether the memory of a source lives with what \`convert\` gave for it, and after that was dropped. */
      const livesOf = async (convert, source) => {
        const weak = new WeakRef(source.buffer);
        const held = [await convert(source)];
        source = undefined;
        await collect();
        const withIt = isAlive(weak);
        held.pop();
        await collect();
        return [withIt, isAlive(weak)];
      };
      const order = { _id: 1, a: [1], o: { n: 2 }, s: 'text' };
      const row = (source) => converter.rawToSqliteRow(source).row;
      const readAll = (row) => Object.values(row).length && row;
      const event = { _id: { _data: '82' }, fullDocument: order, documentKey: { _id: 1 } };
      const reply = { nextBatch: [{ _id: 0, s: 'short' }, order, order], id: 1n, ns: 'a.b' };
      // Twice: rows of a layout that is new are made in another way than those of one that is known.
      const both = async () => ({
        unread: await livesOf(row, make(order)),
        oneRead: await livesOf((source) => { const made = row(source); made.a; return made; }, make(order)),
        allRead: await livesOf((source) => readAll(row(source)), make(order)),
        assigned: await livesOf((source) => Object.assign(row(source), { a: 1, o: 2 }), make(order)),
        readAndAssigned: await livesOf((source) => { const made = row(source); made.a; made.a = 1; return made; }, make(order)),
        nothingLazy: await livesOf(row, make({ _id: 1, s: 'text' })),
        otherColumn: await livesOf((source) => row(source).s, make(order)),
        change: await livesOf((source) => converter.convertChange(source), make(event)),
        changeRead: await livesOf((source) => { const made = converter.convertChange(source); readAll(made.row); return made; }, make(event)),
        batch: await livesOf((source) => converter.convertBatch(source).documents[1], make(reply)),
        batchRead: await livesOf((source) => { const { documents } = converter.convertBatch(source); documents.forEach(({ row }) => readAll(row)); return documents; }, make(reply)),
        otherOfBatch: await livesOf((source) => converter.convertBatch(source).documents[0], make(reply)),
        documents: await livesOf((source) => converter.convertDocuments([source])[0], make(order)),
        batchAsync: await livesOf(async (source) => (await converter.convertBatchAsync(source)).documents[1], make(reply)),
        otherOfBatchAsync: await livesOf(async (source) => (await converter.convertBatchAsync(source)).documents[0], make(reply)),
        documentsAsync: await livesOf(async (source) => (await converter.convertDocumentsAsync([source]))[0], make(order)),
      });
      report([await both(), await both()]);
      `,
      ['--expose-gc'],
    );
    const kept = [true, false];
    const notKept = [false, false];
    const expected = {
      unread: kept,
      oneRead: kept,
      allRead: notKept,
      assigned: notKept,
      readAndAssigned: kept,
      nothingLazy: notKept,
      otherColumn: notKept,
      change: kept,
      changeRead: notKept,
      batch: kept,
      batchRead: notKept,
      otherOfBatch: notKept,
      documents: kept,
      batchAsync: kept,
      otherOfBatchAsync: notKept,
      documentsAsync: kept,
    };
    expect(lives).toEqual([expected, expected]);
  });
});

describe('the option itself', () => {
  it('is a boolean', () => {
    for (const value of [5, 0, 1, 'true', null, {}, []]) {
      const { error } = attempt(() => new NativeSourceRowConverter(MODE, { lazyJson: value }));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/\blazyJson\b/);
    }
  });
  it('is false when left out, as with undefined', () => {
    for (const options of [{}, { lazyJson: undefined }, { lazyJson: false }]) {
      const { row } = new NativeSourceRowConverter(MODE, options).rawToSqliteRow(ORDER);
      expect(accessorsOf(row)).toEqual([]);
      expectRow(row, ROW);
    }
  });
});
