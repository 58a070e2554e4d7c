/**
 * The option `zeroCopy`: results are those without it, whatever their text; a string over the source's memory keeps
 * that memory, no longer than it has to; and all other text is copied.
 */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { DateRenderMode, NativeSourceRowConverter } from '../index.js';
import { document, element, int, nested, payload, string, Type } from './support/bson-bytes.mjs';
import { attempt, expectRow, expectSame } from './support/outcome.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { runScript } from './support/run-script.mjs';

const bson = createRequire(import.meta.url)('bson');
const MODE = DateRenderMode.ISO_MILLISECONDS;
/** The least length of a text that is not copied. */
const LEAST = 8 << 10;

const copying = new NativeSourceRowConverter(MODE, { updateDescription: true });
const zeroCopy = new NativeSourceRowConverter(MODE, { updateDescription: true, zeroCopy: true });

/** ASCII that is nowhere the same for long, so that a wrong place shows. */
const asciiOf = (length) => {
  let text = '';
  for (let word = 0; text.length < length; word++) text += `${word} `;
  return text.slice(0, length);
};
const id = int('_id', 1);

const TEXTS = {
  'ASCII below the limit': asciiOf(LEAST - 1),
  'ASCII at the limit': asciiOf(LEAST),
  'ASCII above the limit': asciiOf(LEAST + 1),
  'long ASCII': asciiOf(100_000),
  'ASCII with NULs and control characters': '\0\x01\n\x7f"\\'.repeat(LEAST),
  'one accent at the end': `${asciiOf(LEAST)}é`,
  'one accent at the start': `é${asciiOf(LEAST)}`,
  'one emoji in the middle': `${asciiOf(LEAST)}😀${asciiOf(LEAST)}`,
  'ill-formed UTF-8': Buffer.concat([Buffer.from(asciiOf(LEAST)), Buffer.of(0xff)]),
};

/** Documents with the text at each place that it can have. */
const placesOf = (text) => [
  document([id, string('s', text), string('t', 'short')]),
  document([id, string('s', text), string('s2', text), string('s', text)]),
  document([
    id,
    element(Type.SYMBOL, 's', payload.string(text)),
    element(Type.CODE, 'c', payload.string(text)),
  ]),
  document([
    id,
    nested(
      'o',
      string('s', text),
      element(Type.ARRAY, 'a', payload.array([[Type.STRING, payload.string(text)]])),
    ),
  ]),
];
/** `key` is what stands in `documentKey`, where text must be well-formed. */
const eventOf = (bytes, text, key) =>
  document([
    nested('_id', string('_data', '82')),
    string('note', text),
    element(Type.DOCUMENT, 'fullDocument', bytes),
    element(Type.DOCUMENT, 'fullDocumentBeforeChange', bytes),
    nested('documentKey', string('region', key), id),
    nested('updateDescription', string('s', text)),
  ]);

/** A source with memory of its own, and a part of a larger one. */
const sourcesOf = (bytes) => [
  Uint8Array.from(bytes),
  Buffer.concat([Buffer.alloc(13, 0xff), bytes, Buffer.alloc(5, 0xff)]).subarray(13, 13 + bytes.length),
];

describe('results equal those without the option', () => {
  for (const [title, text] of Object.entries(TEXTS)) {
    it(title, () => {
      const documents = placesOf(text);
      const events = documents.map((bytes) => eventOf(bytes, text, typeof text === 'string' ? text : 'eu'));
      for (const bytes of documents.flatMap(sourcesOf)) {
        const expected = copying.rawToSqliteRow(bytes);
        const { row, replicaId } = zeroCopy.rawToSqliteRow(bytes);
        expectRow(row, expected.row);
        expectSame(replicaId, expected.replicaId);
      }
      for (const bytes of events.flatMap(sourcesOf)) {
        expectRow(zeroCopy.convertChange(bytes), copying.convertChange(bytes));
      }
      for (const [sources, isChangeStream] of [
        [documents, false],
        [events, true],
      ]) {
        for (const reply of sourcesOf(cursorReply(batchOf(sources), { isChangeStream }))) {
          expectSame(zeroCopy.convertBatch(reply), copying.convertBatch(reply));
        }
      }
      expectSame(zeroCopy.convertDocuments(documents), copying.convertDocuments(documents));
    });
  }

  it('a long _id', () => {
    const bytes = document([string('_id', asciiOf(LEAST))]);
    expect(zeroCopy.rawToSqliteRow(bytes)).toStrictEqual(copying.rawToSqliteRow(bytes));
    expect(zeroCopy.rawToSqliteRow(bytes).replicaId).toBe(asciiOf(LEAST));
  });

  it('strings behave as any other: as names, in JSON, joined and cut', () => {
    const text = asciiOf(LEAST);
    const { s } = zeroCopy.rawToSqliteRow(document([id, string('s', text)])).row;
    expect({ [s]: 1 }[text]).toBe(1);
    expect(JSON.parse(JSON.stringify(s))).toBe(text);
    expect(`${s}${s}`.slice(LEAST - 3, LEAST + 3)).toBe(text.slice(-3) + text.slice(0, 3));
    expect(Buffer.from(s).equals(Buffer.from(text))).toBe(true);
  });

  it('documentToSqliteRow, whose source is its own', () => {
    const text = asciiOf(LEAST);
    expectRow(zeroCopy.documentToSqliteRow({ _id: 1, s: text }), { _id: 1n, s: text });
  });
});

describe('text that is copied does not change with the source', () => {
  const long = asciiOf(LEAST);
  const CASES = {
    'below the limit': string('s', asciiOf(LEAST - 1)),
    'not ASCII': string('s', `${long}é`),
    nested: nested('s', string('t', long)),
  };
  for (const [title, part] of Object.entries(CASES)) {
    it(title, () => {
      const bytes = document([id, part]);
      const source = Uint8Array.from(bytes);
      const { row } = zeroCopy.rawToSqliteRow(source);
      source.fill(0xff);
      expectRow(row, copying.rawToSqliteRow(bytes).row);
    });
  }
  it('of a SharedArrayBuffer', () => {
    const bytes = document([id, string('s', long)]);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const { row } = zeroCopy.rawToSqliteRow(shared);
    const [{ row: ofMany }] = zeroCopy.convertDocuments([shared]);
    shared.fill(0xff);
    expectRow(row, { _id: 1n, s: long });
    expectRow(ofMany, { _id: 1n, s: long });
  });
});

/** What the scripts have in common. */
const SETTING = `
  const { serialize } = require('bson');
  const LEAST = ${LEAST};
  const make = (document) => Uint8Array.from(serialize(document));
  const converter = new addon.NativeSourceRowConverter(1, { zeroCopy: true });
  const copying = new addon.NativeSourceRowConverter(1);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** Finalizers run between turns, and what they let go is collected by the next collection. */
  const collect = async () => { for (let round = 0; round < 6; round++) { gc(); await turn(); } };
  const isAlive = (weak) => weak.deref() !== undefined;
  /** Whether the memory of a source lives with what \`convert\` gave for it, and after that was dropped. */
  const livesOf = async (convert, source) => {
    const weak = new WeakRef(source.buffer);
    const held = [convert(source)];
    source = undefined;
    await collect();
    const withIt = isAlive(weak);
    held.pop();
    await collect();
    return [withIt, isAlive(weak)];
  };
`;
const FLAGS = ['--expose-gc'];

describe('the memory of the source', () => {
  it('is kept by a string over it, and by nothing else', () => {
    const lives = runScript(
      `${SETTING}
      const ascii = { _id: 1, s: 'x'.repeat(LEAST) };
      const row = (source) => converter.rawToSqliteRow(source).row;
      const event = { _id: { _data: '82' }, fullDocument: ascii, documentKey: { _id: 1 } };
      const reply = { nextBatch: [{ _id: 0, s: 'short' }, ascii], id: 1n, ns: 'a.b' };
      report({
        string: await livesOf((source) => row(source).s, make(ascii)),
        row: await livesOf(row, make(ascii)),
        change: await livesOf((source) => converter.convertChange(source).row, make(event)),
        batch: await livesOf((source) => converter.convertBatch(source).documents[1], make(reply)),
        documents: await livesOf((source) => converter.convertDocuments([source])[0], make(ascii)),
        otherOfBatch: await livesOf((source) => converter.convertBatch(source).documents[0], make(reply)),
        otherColumn: await livesOf((source) => row(source)._id, make(ascii)),
        belowTheLimit: await livesOf(row, make({ _id: 1, s: 'x'.repeat(LEAST - 1) })),
        notAscii: await livesOf(row, make({ _id: 1, s: 'é' + 'x'.repeat(LEAST) })),
        nested: await livesOf(row, make({ _id: 1, o: { s: 'x'.repeat(LEAST) } })),
        withoutTheOption: await livesOf((source) => copying.rawToSqliteRow(source).row, make(ascii)),
      });
      `,
      FLAGS,
    );
    const kept = [true, false];
    const notKept = [false, false];
    expect(lives).toEqual({
      string: kept,
      row: kept,
      change: kept,
      batch: kept,
      documents: kept,
      otherOfBatch: notKept,
      otherColumn: notKept,
      belowTheLimit: notKept,
      notAscii: notKept,
      nested: notKept,
      withoutTheOption: notKept,
    });
  });

  it('is let go when a conversion fails after the string', () => {
    const lives = runScript(
      `${SETTING}
      const bad = make({ _id: 1, s: 'x'.repeat(LEAST), b: true });
      bad[bad.length - 5] = 0x99;
      const codeOf = (source) => { try { converter.rawToSqliteRow(source); } catch ({ code }) { return code; } };
      report([codeOf(bad), await livesOf(codeOf, bad.slice())]);
      `,
      FLAGS,
    );
    expect(lives).toEqual(['BSONROW_COLUMN_TYPE', [false, false]]);
  });

  it('holds the text although the source is dropped and much is allocated since', () => {
    const wrong = runScript(
      `${SETTING}
      const textOf = (index) => String(index).padStart(8, '-').repeat(LEAST / 8);
      const rows = Array.from({ length: 500 }, (_, index) => converter.rawToSqliteRow(make({ _id: index, s: textOf(index) })).row);
      await collect();
      let last;
      for (let index = 0; index < 2000; index++) last = new Uint8Array(LEAST + 64).fill(index);
      await collect();
      report([last.length > 0, rows.length, rows.filter(({ s }, index) => s !== textOf(index)).length]);
      `,
      FLAGS,
    );
    expect(wrong).toEqual([true, 500, 0]);
  });

  it('is let go while conversions go on', () => {
    const [alive, megabytes] = runScript(
      `${SETTING}
      const weaks = [];
      make({});
      const before = process.memoryUsage().arrayBuffers;
      let last;
      for (let index = 0; index < 3000; index++) {
        const source = make({ _id: index, s: 'x'.repeat(2 * LEAST) });
        weaks.push(new WeakRef(source.buffer));
        last = converter.rawToSqliteRow(source).row;
        if (index % 100 === 99) { gc(); await turn(); }
      }
      await collect();
      report([weaks.filter(isAlive).length, (process.memoryUsage().arrayBuffers - before) / 2 ** 20, last.s.length]);
      `,
      FLAGS,
    );
    expect(alive).toBeLessThan(5);
    expect(megabytes).toBeLessThan(8);
  });

  it('is let go by a worker that is terminated with such strings alive', () => {
    const outcome = runScript(
      `${SETTING}
      const { Worker } = require('node:worker_threads');
      const { once } = require('node:events');
      const body = \`
        const { parentPort, workerData } = require('node:worker_threads');
        const { NativeSourceRowConverter } = require(workerData.addon);
        const converter = new NativeSourceRowConverter(1, { zeroCopy: true });
        const rows = [];
        const convert = () => {
          rows[rows.length % 500] = converter.rawToSqliteRow(Uint8Array.from(workerData.source)).row;
          if (rows.length === 200) parentPort.postMessage(rows[199].s.length);
          setImmediate(convert);
        };
        convert();
      \`;
      const workerData = { addon: require.resolve('../../index.js'), source: make({ _id: 1, s: 'x'.repeat(2 * LEAST) }) };
      const before = process.memoryUsage().arrayBuffers;
      const lengths = [];
      for (let round = 0; round < 6; round++) {
        const worker = new Worker(body, { eval: true, execArgv: [], workerData });
        lengths.push(...(await once(worker, 'message')));
        await worker.terminate();
      }
      await collect();
      report([lengths, (process.memoryUsage().arrayBuffers - before) / 2 ** 20]);
      `,
      FLAGS,
    );
    expect(outcome[0]).toEqual(Array(6).fill(2 * LEAST));
    expect(outcome[1]).toBeLessThan(8);
  });
});

describe('the option itself', () => {
  it('is a boolean', () => {
    for (const value of [5, 0, 1, 'true', null, {}, []]) {
      const { error } = attempt(() => new NativeSourceRowConverter(MODE, { zeroCopy: value }));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/\bzeroCopy\b/);
    }
  });
  it('is false when left out, as with undefined', () => {
    for (const options of [{ bson }, { zeroCopy: undefined }, { zeroCopy: false }]) {
      const source = Uint8Array.from(document([id, string('s', asciiOf(LEAST))]));
      const { row } = new NativeSourceRowConverter(MODE, options).rawToSqliteRow(source);
      source.fill(0xff);
      expectRow(row, { _id: 1n, s: asciiOf(LEAST) });
    }
  });
});
