// The parts by themselves: who applies what, messages, and where a run goes on.

import { Binary, Decimal128, Double, Int32, Long, ObjectId, serialize, Timestamp } from 'bson';
import { DateRenderMode, NativeSourceRowConverter } from 'bsonrow';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../lib/errors.mjs';
import { claimOf, isEntryOf, partOf, partsOf, resume } from '../../lib/positions.mjs';
import { CHECKPOINT_ORDER } from '../../lib/source/checkpoint.mjs';
import { POSITION_ORDER, placeOf } from '../../lib/source/mongodb/position.mjs';
import { EncodingConverter } from '../../lib/workers/encoding-converter.mjs';
import { loadFormat } from '../../lib/workers/messages/formats.mjs';
import { applierOf } from '../../lib/workers/routing.mjs';

const MODE = DateRenderMode.ISO_MILLISECONDS;

describe('who applies a collection', () => {
  test('the same in every run', () => {
    const names = ['shop.orders', 'shop.items', 'shop.log', 'crm.people', 'a.b'];
    expect(names.map((name) => applierOf(name, 2))).toEqual([1, 1, 0, 0, 1]);
    expect(names.map((name) => applierOf(name, 3))).toEqual([1, 2, 0, 1, 1]);
  });

  test('names that may be the same table have the same one', () => {
    const long = `shop.${'é'.repeat(40)}`;
    for (const [a, b] of [
      ['shop.Orders', 'shop.ordeRs'],
      ['shop.orders', 'shop.orders#2'],
      [long, `${long}x`],
      [long, `${long.slice(0, 32)}#12`],
    ]) {
      for (let count = 1; count < 40; count += 1) expect(applierOf(a, count), a).toBe(applierOf(b, count));
    }
  });

  test('many collections are divided evenly', () => {
    const shares = [0, 0, 0];
    for (let i = 0; i < 3000; i += 1) shares[applierOf(`shop.collection_${i}`, 3)] += 1;
    for (const share of shares) expect(share).toBeGreaterThan(900);
  });
});

describe.each(['messagepack', 'json'])('messages as %s', (name) => {
  const document = serialize({
    _id: new ObjectId('0123456789abcdef01234567'),
    text: 'é "quoted" \u2028 \u0000 end',
    empty: '',
    one: new Int32(1),
    large: Long.fromBigInt(-(2n ** 63n)),
    time: new Timestamp({ t: 2 ** 32 - 1, i: 7 }),
    beyond: new Double(1e300),
    real: new Double(0.1),
    nan: new Double(Number.NaN),
    infinite: new Double(Number.NEGATIVE_INFINITY),
    blob: new Binary(Buffer.of(0, 1, 255)),
    none: null,
    decimal: Decimal128.fromString('1.10'),
    items: [{ a: 1 }],
    nested: { number: 5 },
  });
  const withProto = Buffer.from(serialize({ _id: 1, xxproto__: 'x' }));
  withProto.write('__proto__', withProto.indexOf('xxproto__'));

  const rowOf = (bytes) => new NativeSourceRowConverter(MODE).rawToSqliteRow(bytes).row;
  const encodedRowOf = (bytes) =>
    name === 'json' ? rowOf(bytes) : new EncodingConverter(MODE).rawToSqliteRow(bytes).row;

  test('rows, keys and fields are as they were', async () => {
    const { encode, decode } = await loadFormat(name);
    const changes = [
      { kind: 'put', operation: 'insert', namespace: 'a.b', key: Buffer.of(1, 2), bytes: document },
      { kind: 'put', operation: 'insert', namespace: 'a.b', key: Buffer.of(1, 3), bytes: withProto },
      { kind: 'remove', operation: 'delete', namespace: 'a.b', key: Buffer.of(1, 2) },
      { kind: 'remove', operation: 'delete', namespace: 'a.c', key: Buffer.of(1, 4) },
      { kind: 'rename', operation: 'rename', namespace: 'a.b', to: 'a.d' },
      { kind: 'dropDatabase', operation: 'dropDatabase', database: 'a' },
    ];
    const withRows = (toRow) =>
      changes.map(({ bytes, ...change }) =>
        bytes === undefined ? change : { ...change, row: toRow(bytes) },
      );
    const decoded = decode(Buffer.concat(encode(withRows(encodedRowOf))));
    const plain = (row) =>
      row &&
      Object.entries(row).map(([column, value]) => [
        column,
        value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
      ]);
    const comparable = (list) => list.map((change) => ({ ...change, row: plain(change.row) }));
    expect(comparable(decoded)).toEqual(comparable(withRows(rowOf)));
    expect(Object.getPrototypeOf(decoded[1].row)).toBe(Object.prototype);
    expect(Buffer.isBuffer(decoded[0].key)).toBe(true);
  });
});

describe('where a run goes on', () => {
  const at = (end) => JSON.stringify({ end, digest: null });
  const order = CHECKPOINT_ORDER;

  test('the entries of a source', () => {
    const names = ['s', partOf('s', 0, 2), claimOf('s'), 's2', 's part', 's part 1 of 2 part 1 of 2', 't'];
    expect(names.filter((name) => isEntryOf('s', name))).toEqual(['s', 's part 1 of 2', 's run']);
  });

  test('at the source’s own entry, where there is no other', () => {
    expect(resume(new Map(), 's', 2, order)).toEqual({ position: null, covered: [null, null], forget: [] });
    const own = new Map([['s', at(5)]]);
    expect(resume(own, 's', 3, order)).toEqual({ position: at(5), covered: [null, null, null], forget: [] });
  });

  test('at the earliest of several, and what the others have is known', () => {
    const entries = new Map([
      ['s', at(5)],
      [partOf('s', 0, 3), at(100)],
      [partOf('s', 2, 3), at(30)],
    ]);
    expect(resume(entries, 's', 3, order)).toEqual({ position: at(5), covered: [100, 5, 30], forget: [] });
  });

  test('another number of processes: only where all are at one place', () => {
    const entries = new Map(partsOf('s', 2).map((name) => [name, at(7)]));
    expect(resume(entries, 's', 1, null)).toEqual({
      position: at(7),
      covered: [null],
      forget: partsOf('s', 2),
    });
    entries.set(partOf('s', 1, 2), at(8));
    expect(() => resume(entries, 's', 1, null)).toThrow(UsageError);
    expect(() => resume(entries, 's', 3, order)).toThrow(/begun with --workers 3 and was cut short/);
  });

  const position = (fields) => JSON.stringify({ start: {}, pending: [], last: null, ...fields });
  const token = (digits) => ({ resumeAfter: { _data: `82${digits.padEnd(24, '0')}` } });

  test('a stream: by the tokens', () => {
    const [early, late] = [position({ start: token('65A1') }), position({ start: token('65B1') })];
    const entries = new Map([
      ['s', position({ start: { startAtOperationTime: { $timestamp: { t: 1, i: 1 } } } })],
      [partOf('s', 0, 2), late],
      [partOf('s', 1, 2), early],
    ]);
    const { position: found, covered } = resume(entries, 's', 2, POSITION_ORDER);
    expect(found).toBe(early);
    expect(covered).toEqual([`8265B1${'0'.repeat(20)}`, `8265A1${'0'.repeat(20)}`]);
    expect(placeOf(JSON.parse(entries.get('s')))).toBe('');
  });

  test('a stream whose tokens say nothing: where all of them were', () => {
    const other = { resumeAfter: { _data: '17-4' } };
    const entries = new Map([
      ['s', position({ start: token('65A1') })],
      [partOf('s', 0, 2), position({ start: other })],
    ]);
    const found = resume(entries, 's', 2, POSITION_ORDER);
    expect(found).toEqual({ position: entries.get('s'), covered: [null, null], forget: [] });
  });

  test('a snapshot: at the entry of the only one that applies it', () => {
    const namespace = 'shop.log';
    const owner = applierOf(namespace, 2);
    const within = (id) => position({ start: token('65A1'), pending: [namespace], last: { id } });
    const entries = new Map([
      ['s', position({ start: token('65A1'), pending: [namespace] })],
      [partOf('s', owner, 2), within(50)],
      [partOf('s', 1 - owner, 2), within(20)],
    ]);
    expect(resume(entries, 's', 2, POSITION_ORDER).position).toBe(within(50));
    entries.delete(partOf('s', owner, 2));
    expect(resume(entries, 's', 2, POSITION_ORDER).position).toBe(entries.get('s'));
  });
});
