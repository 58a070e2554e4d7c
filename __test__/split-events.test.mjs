/** Fragments of split events: put together they are the event, and a fragment out of place is an error. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter, SplitEventMerger } from '../index.js';
import { document, element, int, payload, Type, withId } from './support/bson-bytes.mjs';
import { dataMissing, readJson } from './support/data.mjs';
import { dataEvents, eventElements, toBson } from './support/events.mjs';
import { splitElements } from './support/model.mjs';
import { attempt, expectBsonRowError, expectRow } from './support/outcome.mjs';
import { createRandom } from './support/random.mjs';
import { describeUnless } from './support/skip.mjs';
import { TYPE_TABLE } from './support/type-table.mjs';

const bson = createRequire(import.meta.url)('bson');
const random = createRandom();
const converter = new NativeSourceRowConverter(0, { updateDescription: true });
const WHOLE = document([element(Type.DOCUMENT, 'fullDocument', withId())]);

const tokenElement = (number) =>
  element(Type.DOCUMENT, '_id', document([element(Type.STRING, '_data', payload.string(`82${number}`))]));
const splitElement = (fragment, of) =>
  element(Type.DOCUMENT, 'splitEvent', document([int('fragment', fragment), int('of', of)]));

/** A fragment of these elements, as the server writes it. */
const fragmentOf = (elements, fragment, of) =>
  document([tokenElement(fragment), splitElement(fragment, of), ...elements]);

/** An event's elements but its token, cut into `of` fragments at random places. */
function cut(elements, of) {
  const ends = Array.from({ length: of - 1 }, () => random() % (elements.length + 1)).sort((a, b) => a - b);
  return [...ends, elements.length].map((end, index) =>
    fragmentOf(elements.slice(ends[index - 1] ?? 0, end), index + 1, of),
  );
}

/** What the merger gives for the last fragment; for the others it gives nothing. */
function merge(merger, fragments) {
  const results = fragments.map((fragment) => merger.push(fragment));
  const merged = results.pop();
  expect(results.every((each) => each === null)).toBe(true);
  expect(merger.pending).toBe(0);
  return merged;
}

const nameOf = (bytes) => bytes.toString('latin1', 1, bytes.indexOf(0, 1));

describeUnless(dataMissing, 'the fragments of the data', () => {
  const fragments = dataMissing ? [] : readJson('events/a/split_event_fragments.json');

  it('make one event', () => {
    const merged = merge(new SplitEventMerger(), fragments.map(toBson));
    const { splitEvent, ...expected } = Object.assign({}, ...fragments);
    expect(Object.keys(expected).length).toBeGreaterThan(5);
    expect(bson.EJSON.stringify(bson.deserialize(merged, { promoteValues: false }), { relaxed: false })).toBe(
      bson.EJSON.stringify(bson.EJSON.parse(JSON.stringify(expected), { relaxed: false }), {
        relaxed: false,
      }),
    );
    expectRow(converter.convertChange(merged), converter.convertChange(toBson(expected)));
  });
});

describeUnless(dataMissing, 'events of the data, split', () => {
  it('are the same again, but for the resume token', () => {
    const merger = new SplitEventMerger();
    let count = 0;
    for (const { label, bytes } of dataEvents()) {
      const elements = splitElements(bytes).filter((each) => !['_id', 'splitEvent'].includes(nameOf(each)));
      const of = 1 + (random() % 5);
      const merged = merge(merger, cut(elements, of));
      expect(merged.equals(document([tokenElement(of), ...elements])), label).toBe(true);
      count++;
    }
    expect(count).toBeGreaterThan(900);
  });
});

describe('generated events, split', () => {
  it('convert as if they had not been', () => {
    const merger = new SplitEventMerger();
    fc.assert(
      fc.property(eventElements, fc.integer({ min: 1, max: 6 }), (all, of) => {
        const elements = all.filter((each) => !['_id', 'splitEvent'].includes(nameOf(each)));
        const unsplit = document([tokenElement(of), ...elements]);
        const expected = attempt(() => converter.convertChange(unsplit));
        const merged = attempt(() => merge(merger, cut(elements, of)));
        if (merged.error) {
          // A fragment is read before it is kept: what is malformed in it is malformed in the event.
          expectBsonRowError(merged.error, unsplit.length + 100);
          expect(expected.error).toBeDefined();
          merger.reset();
          return;
        }
        expect(merged.value.equals(unsplit)).toBe(true);
        const { value, error } = attempt(() => converter.convertChange(merged.value));
        expect(error?.message).toBe(expected.error?.message);
        if (value) expectRow(value, expected.value);
      }),
      { numRuns: 1000 },
    );
  });

  it('elements of every type pass unchanged', () => {
    const elements = TYPE_TABLE.map(({ type, payload: bytes }, index) => element(type, `v${index}`, bytes));
    const readable = elements.filter(
      (each) => !attempt(() => new SplitEventMerger().push(document([each]))).error,
    );
    expect(readable.length).toBeGreaterThan(TYPE_TABLE.length / 2);
    for (const of of [1, 2, readable.length]) {
      const merged = merge(new SplitEventMerger(), cut(readable, of));
      expect(merged.equals(document([tokenElement(of), ...readable]))).toBe(true);
    }
  });
});

describe('a whole event', () => {
  it('comes back as it is', () => {
    const merger = new SplitEventMerger();
    for (const event of [WHOLE, Uint8Array.from(WHOLE), document([])]) expect(merger.push(event)).toBe(event);
    const nothing = document([element(Type.NULL, 'splitEvent')]);
    expect(merger.push(nothing)).toBe(nothing);
  });
  it('of one fragment loses only its mark', () => {
    const merged = new SplitEventMerger().push(fragmentOf([element(Type.NULL, 'a')], 1, 1));
    expect(merged.equals(document([tokenElement(1), element(Type.NULL, 'a')]))).toBe(true);
  });
});

describe('fragments', () => {
  const fragments = [1, 2, 3].map((number) =>
    fragmentOf([element(Type.INT32, `f${number}`, payload.int32(number))], number, 3),
  );

  it('are copied: their memory is free at once', () => {
    const merger = new SplitEventMerger();
    const results = fragments.map((fragment) => {
      const memory = Uint8Array.from(fragment);
      const result = merger.push(memory);
      memory.fill(0xff);
      return result;
    });
    expect(results[2].equals(merge(merger, fragments))).toBe(true);
  });
  it('may say their numbers in any integral type, and have splitEvent anywhere', () => {
    const split = (fragment) =>
      element(
        Type.DOCUMENT,
        'splitEvent',
        document([
          element(Type.INT64, 'of', payload.int64(2)),
          element(Type.DOUBLE, 'fragment', payload.double(fragment)),
        ]),
      );
    const merged = merge(new SplitEventMerger(), [
      document([element(Type.NULL, 'a'), split(1), tokenElement(1)]),
      document([element(Type.NULL, 'b'), tokenElement(2), split(2)]),
    ]);
    const elements = [element(Type.NULL, 'a'), tokenElement(2), element(Type.NULL, 'b')];
    expect(merged.equals(document(elements))).toBe(true);
  });
  it('with a field that an earlier one had: the last is taken, at the first place', () => {
    const [a, b, last] = [element(Type.NULL, 'a'), element(Type.NULL, 'b'), element(Type.BOOLEAN, 'a', [1])];
    const merged = merge(new SplitEventMerger(), [fragmentOf([a, b], 1, 2), fragmentOf([last], 2, 2)]);
    expect(merged.equals(document([tokenElement(2), last, b]))).toBe(true);
  });
  it('pending tells how many wait; reset forgets them', () => {
    const merger = new SplitEventMerger();
    const counts = fragments.map((fragment) => {
      const before = merger.pending;
      merger.push(fragment);
      return before;
    });
    expect(counts).toEqual([0, 1, 2]);
    merger.push(fragments[0]);
    merger.reset();
    expect(merger.pending).toBe(0);
    expect(merger.push(WHOLE)).toBe(WHOLE);
  });

  const OUT_OF_PLACE = {
    'the first is missing': [
      [fragments[1]],
      'Split event: fragment 1 of 3 is missing, fragment 2 came instead',
    ],
    'one in the middle is missing': [
      [fragments[0], fragments[2]],
      'Split event: fragment 2 of 3 is missing, fragment 3 came instead',
    ],
    'one is repeated': [
      [fragments[0], fragments[1], fragments[1]],
      'Split event: fragment 2 of 3 came again',
    ],
    'the first is repeated': [[fragments[0], fragments[0]], 'Split event: fragment 1 of 3 came again'],
    'one of another event': [
      [fragments[0], fragmentOf([], 2, 4)],
      'Split event: fragment 2 of 3 is missing, one of an event of 4 came instead',
    ],
    'a whole event': [
      [fragments[0], fragments[1], WHOLE],
      'Split event: fragment 3 of 3 is missing, a whole event came instead',
    ],
    'number 0': [[fragmentOf([], 0, 3)], 'Split event: fragment 0 of 3 cannot be'],
    'a number above all': [[fragmentOf([], 4, 3)], 'Split event: fragment 4 of 3 cannot be'],
    'no numbers': [
      [document([element(Type.DOCUMENT, 'splitEvent', document([]))])],
      'Split event: fragment NaN of NaN cannot be',
    ],
    'splitEvent that is no document': [
      [document([element(Type.DOUBLE, 'splitEvent', payload.double(1))])],
      'Split event: fragment NaN of NaN cannot be',
    ],
  };
  for (const [title, [events, message]] of Object.entries(OUT_OF_PLACE)) {
    it(`out of place: ${title}`, () => {
      const merger = new SplitEventMerger();
      const last = events.at(-1);
      for (const event of events.slice(0, -1)) expect(merger.push(event)).toBe(null);
      const { error } = attempt(() => merger.push(last));
      expect(error).toBeInstanceOf(Error);
      expect(error).toMatchObject({ message, code: 'BSONROW_SPLIT_EVENT' });
      expect(merger.pending).toBe(0);
      expect(merge(merger, fragments)).toBeInstanceOf(Buffer);
    });
  }

  it('that are malformed, and what is no event', () => {
    const merger = new SplitEventMerger();
    for (let length = 0; length < fragments[0].length; length++) {
      const { error } = attempt(() => merger.push(fragments[0].subarray(0, length)));
      expectBsonRowError(error, length);
    }
    for (const value of [undefined, null, 5, 'abc', {}, new ArrayBuffer(5)]) {
      const { error } = attempt(() => merger.push(value));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/\bevent\b/);
    }
    expect(merge(merger, fragments)).toBeInstanceOf(Buffer);
  });
  it('changed at each byte: merged, or an error', () => {
    for (const [index, fragment] of fragments.entries()) {
      for (let at = 0; at < fragment.length; at++) {
        const changed = Buffer.from(fragment);
        changed[at] = random();
        const merger = new SplitEventMerger();
        const { error } = attempt(() => {
          for (const each of fragments.with(index, changed)) merger.push(each);
        });
        if (error) expect(error.code).toMatch(/^BSONROW_/);
      }
    }
  });
});

describe('a change', () => {
  it('tells that it is of a fragment', () => {
    const event = fragmentOf([element(Type.DOCUMENT, 'fullDocument', withId())], 2, 3);
    expect(converter.convertChange(event).splitEvent).toEqual({ fragment: 2, of: 3 });
  });
});
