/**
 * The classes and functions of an implementation of BSON are the caller's, and they run while the addon makes its
 * objects: whatever they do to the source or ask of the converter, results are right or there is an error, and the
 * process lives. Each case in a process of its own. Likewise what a long batch takes of memory.
 */

import { constants } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { freemem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { NativeSourceRowConverter } from '../index.js';
import { document, element } from './support/bson-bytes.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';
import { runScript } from './support/run-script.mjs';
import { describeUnless } from './support/skip.mjs';
import { timeRatio } from './support/time-ratio.mjs';

/**
 * Runs a script as `runScript` does, and expects that it ends by itself, without a word on its standard error output.
 */
function runQuietly(source, flags = []) {
  const prelude = `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    const addon = require('../index.js');
    const report = (value) => process.stdout.write(JSON.stringify(value));
  `;
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', prelude + source],
    { cwd: fileURLToPath(new URL('.', import.meta.url)), encoding: 'utf8', timeout: 60_000 },
  );
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  return JSON.parse(stdout);
}

/** What the scripts have in common: an implementation of BSON that runs `disturb` first, and events to convert. */
const SETTING = `
  const bson = require('bson');
  const serialize = (document) => Buffer.from(bson.serialize(document));
  const idOf = (index) => new bson.ObjectId(index.toString(16).padStart(24, '0'));
  const eventOf = (index) => ({
    _id: { _data: '82' + index },
    operationType: 'insert',
    clusterTime: new bson.Timestamp({ t: index, i: 1 }),
    fullDocument: { _id: idOf(index), text: 'text ' + index, nested: { a: index } },
    documentKey: { region: idOf(index + 1000), price: new bson.Decimal128(String(index)), _id: idOf(index) },
  });
  const COUNT = 200;
  const events = Array.from({ length: COUNT }, (_, index) => eventOf(index));
  const reply = serialize({ nextBatch: events, id: 1n, ns: 'a.b', postBatchResumeToken: { t: idOf(1) } });
  /** Memory of its own, which can be detached. */
  const source = Uint8Array.from(reply);

  let disturb = () => {};
  let busy = false;
  /** Not within itself. */
  const disturbed = () => {
    if (busy) return;
    busy = true;
    try { disturb(); } finally { busy = false; }
  };
  const hostile = {
    ...bson,
    ObjectId: class extends bson.ObjectId { constructor(id) { disturbed(); super(id); } },
    Timestamp: class extends bson.Timestamp { constructor(value) { disturbed(); super(value); } },
    deserialize: (bytes, options) => { disturbed(); return bson.deserialize(bytes, options); },
  };
  const converter = new addon.NativeSourceRowConverter(0, { bson: hostile });
  const detach = (array) => structuredClone(array.buffer, { transfer: [array.buffer] });

  /** Whether a change is what event number \`index\` comes to. */
  const isRight = (change, index) =>
    change.row._id === idOf(index).toHexString() &&
    change.row.text === 'text ' + index &&
    change.row.nested === '{"a":' + index + '}' &&
    change.replicaId.toHexString() === idOf(index).toHexString() &&
    change.documentKey._id === change.replicaId &&
    change.documentKey.region.toHexString() === idOf(index + 1000).toHexString() &&
    change.documentKey.price.toString() === String(index) &&
    change.clusterTime.t === index &&
    Object.keys(change).length === 6;
  const convert = (convertIt) => {
    try {
      const changes = convertIt();
      return {
        length: changes.length,
        wrong: changes.filter((change, index) => !(change instanceof Error) && !isRight(change, index)).length,
        errors: changes.filter((change) => change instanceof Error).length,
      };
    } catch (error) {
      return { thrown: error instanceof Error };
    }
  };
  const convertBatch = (onError) => convert(() => converter.convertBatch(source, { onError }).changes);
`;

/** Runs `disturbance`, whose last expression is a function, while a batch is converted. */
const outcomeOf = (disturbance, onError) =>
  runScript(`${SETTING} disturb = (${disturbance}); report(convertBatch(${JSON.stringify(onError)}));`, [
    '--expose-gc',
  ]);

/** What is done while objects are made, and whether all events are still there to be read. */
const DISTURBANCES = {
  nothing: { source: '() => {}', unharmed: true },
  'detaching the source': { source: '() => { if (source.length > 0) detach(source); }' },
  'detaching the source after a while': {
    source: '(() => { let calls = 0; return () => { if (++calls === 300) detach(source); }; })()',
  },
  'throwing now and then': {
    source: `(() => { let calls = 0; return () => { if (++calls % 50 === 0) throw new Error('hostile'); }; })()`,
  },
  'throwing what is no error': {
    source: '(() => { let calls = 0; return () => { if (++calls % 50 === 0) throw undefined; }; })()',
  },
  'converting other documents': {
    source: `() => {
      converter.rawToSqliteRow(serialize({ _id: idOf(5), price: idOf(6), a: idOf(7) }));
      converter.convertChange(serialize(eventOf(77)));
      addon.bufferToSqlite(serialize({ x: 1 }), 0);
    }`,
    unharmed: true,
  },
  'converting the same batch': { source: '() => { converter.convertBatch(source); }', unharmed: true },
  'converting thousands of documents with new names': {
    source: `(() => { let calls = 0; return () => {
      if (++calls % 400 !== 2) return;
      for (let index = 0; index < 3000; index++) {
        const document = serialize({ _id: 1, ['a' + calls + '_' + index]: 1, b: 2 });
        for (let sight = 0; sight < 2; sight++) converter.rawToSqliteRow(document);
      }
    }; })()`,
    unharmed: true,
  },
  'collecting garbage': { source: '() => { gc(); }', unharmed: true },
};

describe('while the objects of a batch are made', () => {
  for (const [title, { source, unharmed }] of Object.entries(DISTURBANCES)) {
    for (const onError of ['throw', 'return']) {
      it(`${title} (errors: ${onError})`, () => {
        const outcome = outcomeOf(source, onError);
        if (unharmed) expect(outcome).toEqual({ length: 200, wrong: 0, errors: 0 });
        else if (onError === 'return') {
          expect(outcome).toMatchObject({ length: 200, wrong: 0 });
          expect(outcome.errors).toBeGreaterThan(0);
        } else expect(outcome).toEqual({ thrown: true });
      });
    }
  }

  it('overwriting the source: no crash, and every result is a change or an error', () => {
    for (const byte of [0, 0xff, 0x7f, 3]) {
      const outcome = outcomeOf(
        `(() => { let calls = 0; return () => { if (++calls === 40) source.fill(${byte}, 20); }; })()`,
        'return',
      );
      expect(outcome.thrown ?? outcome.length === 200).toBe(true);
    }
  });

  it('a resizable source that shrinks: no crash', () => {
    const outcome = runScript(`${SETTING}
      const buffer = new ArrayBuffer(reply.length, { maxByteLength: 2 * reply.length });
      const growing = new Uint8Array(buffer);
      growing.set(reply);
      let calls = 0;
      disturb = () => { if (++calls === 40) buffer.resize(1000); };
      report(convert(() => converter.convertBatch(growing, { onError: 'return' }).changes));
    `);
    expect(outcome).toMatchObject({ length: 200, wrong: 0 });
    expect(outcome.errors).toBeGreaterThan(100);
  });

  it('arrays of documents that change: no crash, and errors in the places of what is gone', () => {
    const outcome = runScript(`${SETTING}
      const buffers = events.map((event) => Uint8Array.from(serialize(event.fullDocument)));
      let calls = 0;
      disturb = () => {
        calls++;
        if (calls === 10) detach(buffers[40]);
        if (calls === 50) buffers.length = 100;
        if (calls === 60) buffers[80] = 'no longer bytes';
      };
      const results = converter.convertDocuments(buffers, { onError: 'return' });
      report([results.length, results.flatMap((each, index) => (each instanceof TypeError ? [index] : []))]);
    `);
    expect(outcome[0]).toBe(200);
    expect(outcome[1]).toEqual([40, 80, ...Array.from({ length: 100 }, (_, index) => index + 100)]);
  });

  it('one event whose constructors convert others', () => {
    const outcome = runScript(`${SETTING}
      disturb = () => { converter.convertChange(serialize(eventOf(3))); };
      report(convert(() => events.map((event) => converter.convertChange(serialize(event)))));
    `);
    expect(outcome).toEqual({ length: 200, wrong: 0, errors: 0 });
  });

  it('one event of long texts whose constructor converts another, or throws', () => {
    const outcome = runScript(`${SETTING}
      const textsOf = (index, count) => Array.from({ length: count }, (_, n) => ['t' + n, index + 'é'.repeat(5000) + n]);
      /** The key comes first: texts are still to be read when its class runs. */
      const longEventOf = (index, count) => serialize({
        _id: { _data: '82' + index },
        documentKey: { _id: idOf(index) },
        fullDocument: Object.fromEntries(textsOf(index, count)),
      });
      const isWhole = ({ row, replicaId }, index, count) =>
        textsOf(index, count).every(([name, text]) => row[name] === text) && replicaId.equals(idOf(index));
      let inner;
      disturb = () => { inner = converter.convertChange(longEventOf(7, 1)); };
      let wrong = 0;
      for (const count of [1, 2, 3]) {
        for (let index = 0; index < 100; index++) {
          const outer = converter.convertChange(longEventOf(index, count));
          if (!isWhole(outer, index, count) || !isWhole(inner, 7, 1)) wrong++;
        }
      }
      disturb = () => { throw new Error('no'); };
      let thrown = 0;
      try { converter.convertChange(longEventOf(1, 2)); } catch { thrown++; }
      disturb = () => {};
      report([wrong, thrown, isWhole(converter.convertChange(longEventOf(2, 1)), 2, 1)]);
    `);
    expect(outcome).toEqual([0, 1, true]);
  });
});

describe('memory', () => {
  // A young generation that grows would hide the rest.
  const FLAGS = ['--expose-gc', '--max-semi-space-size=1'];

  it('of a batch of 10,000 events is bounded, again and again', () => {
    const growth = runScript(
      `${SETTING}
      const events10k = Array.from({ length: 10_000 }, (_, index) => eventOf(index));
      const batch = serialize({ nextBatch: events10k, id: 1n, ns: 'a.b', postBatchResumeToken: {} });
      const quiet = new addon.NativeSourceRowConverter(0);
      const memoryAfter = (rounds) => {
        for (let round = 0; round < rounds; round++) quiet.convertBatch(batch);
        gc();
        return process.memoryUsage.rss();
      };
      const before = memoryAfter(20);
      report((memoryAfter(40) - before) / 2 ** 20);
      `,
      FLAGS,
    );
    expect(growth).toBeLessThan(64);
  });

  it('of errors is let go', () => {
    const growth = runScript(
      `${SETTING}
      const bad = Array.from({ length: 5_000 }, (_, index) => ({ nothing: index }));
      const batch = serialize({ nextBatch: bad, id: 1n, ns: 'a.b' });
      const quiet = new addon.NativeSourceRowConverter(0);
      Error.stackTraceLimit = 0;
      const memoryAfter = (rounds) => {
        for (let round = 0; round < rounds; round++) quiet.convertBatch(batch, { onError: 'return' });
        gc();
        return process.memoryUsage.rss();
      };
      const before = memoryAfter(3);
      report((memoryAfter(12) - before) / 2 ** 20);
      `,
      FLAGS,
    );
    expect(growth).toBeLessThan(64);
  });

  it('is not that of the reply: changes do not hold it', () => {
    const held = runScript(
      `${SETTING}
      const quiet = new addon.NativeSourceRowConverter(0, { updateDescription: true });
      const filler = Buffer.alloc(2 ** 20, 'x').toString();
      const make = (index) =>
        Uint8Array.from(serialize({ nextBatch: [{ ...eventOf(index), updateDescription: { filler: 'short' } }], filler, id: 1n, ns: 'a.b' }));
      const changes = [];
      for (let index = 0; index < 100; index++) {
        const { filler: dropped, ...batch } = quiet.convertBatch(make(index), { as: 'changes' });
        changes.push(batch.changes[0]);
      }
      gc();
      report([changes.length, process.memoryUsage().arrayBuffers / 2 ** 20]);
      `,
      FLAGS,
    );
    expect(held[0]).toBe(100);
    expect(held[1]).toBeLessThan(60);
  });

  it('of large documents is let go, though they be damaged', () => {
    const outcome = runScript(
      `
      const bson = require('bson');
      const converter = new addon.NativeSourceRowConverter(1);
      const small = bson.serialize({ _id: 1, a: { b: 1 } });
      // Escaped, it takes six times its length.
      const large = Buffer.from(bson.serialize({ _id: 1, a: { s: '\\x01'.repeat(8 << 20), z: true } }));
      const damaged = Buffer.from(large);
      damaged[damaged.lastIndexOf(Buffer.from('\\x08z'))] = 0x99;
      const settle = () => {
        for (let index = 0; index < 1000; index++) converter.rawToSqliteRow(small);
        gc();
        return process.memoryUsage.rss() / 2 ** 20;
      };
      const codeOf = (source) => {
        try { converter.rawToSqliteRow(source); } catch ({ code }) { return code; }
      };
      const before = settle();
      const codes = [];
      const growth = [];
      for (const source of [large, damaged, large, damaged]) {
        codes.push(codeOf(source) ?? 'none');
        const after = settle();
        // The long text of a row may still be in a register of this script.
        if (source === damaged) growth.push(after - before);
      }
      report({ codes, growth: Math.max(...growth) });
      `,
      FLAGS,
    );
    expect(outcome.codes).toEqual(['none', 'BSONROW_NESTED_TYPE', 'none', 'BSONROW_NESTED_TYPE']);
    expect(outcome.growth).toBeLessThan(32);
  });
});

describe('while an error is made', () => {
  const FREEING = `
    const bson = require('bson');
    let source;
    const free = () => {
      if (source?.byteLength > 0) structuredClone(source.buffer, { transfer: [source.buffer] });
      for (let round = 0; round < 5; round++) gc();
    };
    const convertLarge = (converter, document) => {
      // So large that freed memory is no longer there to be read.
      source = new Uint8Array(256 << 20);
      source.set(bson.serialize(document));
      try { converter.rawToSqliteRow(source); } catch ({ message, offset, path }) {
        return { message, offset, path, left: source.byteLength };
      }
    };
  `;

  it('a getter of the message that frees the source', () => {
    const errors = runQuietly(
      `${FREEING}
      const deserialize = () => { throw { get message() { free(); return 'freed'; } }; };
      const converter = new addon.NativeSourceRowConverter(0, { bson: { ...bson, deserialize } });
      const document = { a: 1, _id: bson.Decimal128.fromString('1.5') };
      report(Array.from({ length: 3 }, () => convertLarge(converter, document)));
      `,
      ['--expose-gc'],
    );
    expect(errors).toEqual(Array(3).fill({ message: 'freed', offset: 16, path: ['_id'], left: 0 }));
  });

  it('a setter of Error.prototype that frees the source', () => {
    const error = runQuietly(
      `${FREEING}
      Object.defineProperty(Error.prototype, 'code', { configurable: true, set: free });
      report(convertLarge(new addon.NativeSourceRowConverter(0), { a: 1, b: 2 }));
      `,
      ['--expose-gc'],
    );
    expect(error).toMatchObject({ message: 'Attempt to parse document without _id', offset: 0, path: [] });
  });

  it('setters and getters that free the reply of a batch', () => {
    const outcome = runQuietly(
      `${FREEING}
      const deserialize = () => { throw { get message() { free(); return 'freed'; } }; };
      const converter = new addon.NativeSourceRowConverter(0, { bson: { ...bson, deserialize } });
      const nextBatch = [1, 2, 3].map((index) => ({ a: index, _id: new bson.Decimal128(String(index)) }));
      source = new Uint8Array(256 << 20);
      source.set(bson.serialize({ nextBatch, id: 1n, ns: 'a.b' }));
      const { documents } = converter.convertBatch(source, { onError: 'return' });
      report(documents.map((each) => [each instanceof Error, each.message === 'freed', each.path ?? null]));
      `,
      ['--expose-gc'],
    );
    expect(outcome[0]).toEqual([true, true, ['nextBatch', '0', '_id']]);
    expect(outcome.map(([isError]) => isError)).toEqual([true, true, true]);
  });
});

describe('builtins that an application has changed', () => {
  it('JSON.stringify that converts: columns keep their names', () => {
    const wrong = runQuietly(`
      const bson = require('bson');
      const converter = new addon.NativeSourceRowConverter(1);
      const stringify = JSON.stringify;
      /** Twice each, so that the second sight makes a function for the names. */
      const wrongOf = (letter, count) => {
        let wrong = 0;
        for (let index = 0; index < count; index++) {
          const document = bson.serialize({ _id: index, [letter + index]: 1 });
          for (let sight = 0; sight < 3; sight++) {
            const names = Object.keys(converter.rawToSqliteRow(document).row);
            if (names.length !== 2 || names[1] !== letter + index) wrong++;
          }
        }
        return wrong;
      };
      const wrong = [wrongOf('n', 1000)];
      let isArmed = true;
      JSON.stringify = (value) => {
        if (isArmed) {
          isArmed = false;
          wrong.push(wrongOf('m', 100));
        }
        return stringify(value);
      };
      const victim = bson.serialize({ _id: 1, victim: 1 });
      for (let sight = 0; sight < 3; sight++) {
        const names = Object.keys(converter.rawToSqliteRow(victim).row);
        if (names[1] !== 'victim') wrong.push('victim: ' + names);
      }
      JSON.stringify = stringify;
      wrong.push(wrongOf('m', 100), wrongOf('p', 1000));
      report({ isArmed, wrong });
    `);
    expect(wrong).toEqual({ isArmed: false, wrong: [0, 0, 0, 0] });
  });

  const CONVERSIONS = {
    rawToSqliteRow: '() => converter.rawToSqliteRow(document).row.q',
    convertDocuments: '() => converter.convertDocuments([document])[0].row.q',
    convertChange: '() => converter.convertChange(event).row.q',
    convertBatch: '() => converter.convertBatch(reply).documents[0].row.q',
    bufferToSqlite: '() => addon.bufferToSqlite(document, 1).q',
  };
  for (const [name, inner] of Object.entries(CONVERSIONS)) {
    it(`a setter on Array.prototype that calls ${name}: no panic, no abort`, () => {
      const outcome = runQuietly(`
        const bson = require('bson');
        const converter = new addon.NativeSourceRowConverter(1);
        const document = bson.serialize({ _id: 1, q: 1 });
        const event = bson.serialize({ fullDocument: { _id: 1, q: 1 } });
        const reply = bson.serialize({ firstBatch: [{ _id: 1, q: 1 }], id: 0n, ns: 'a.b' });
        const inner = ${inner};
        let left = 0;
        const values = [];
        const errors = [];
        const define = (array, value) =>
          Object.defineProperty(array, '0', { value, writable: true, enumerable: true, configurable: true });
        Object.defineProperty(Array.prototype, '0', {
          configurable: true,
          set(value) {
            define(this, value);
            if (left-- <= 0) return;
            try { values[values.length] = String(inner()); } catch (error) { errors[errors.length] = error.message; }
          },
        });
        const outer = [];
        // New names each time: what is known is made in another way.
        for (let round = 0; round < 4; round++) {
          left = 3;
          const name = 'w' + round;
          for (let sight = 0; sight < 3; sight++) {
            const { row } = converter.rawToSqliteRow(bson.serialize({ _id: 1, [name]: 1 }));
            outer[outer.length] = String(row[name]);
          }
        }
        delete Array.prototype[0];
        report({ values: [...new Set(values)], errors, outer: [...new Set(outer)] });
      `);
      expect(outcome).toEqual({ values: ['1'], errors: [], outer: ['1'] });
    });
  }
});

describe('time', () => {
  it('of a batch of bad documents grows with their number, not with its square', () => {
    const converter = new NativeSourceRowConverter(1);
    const bad = document([element(0x99, 'a', [1])]);
    const replyOf = (count) => cursorReply(batchOf(Array.from({ length: count }, () => bad)));
    const errorsOf = (count) => {
      const reply = replyOf(count);
      return () => {
        const { documents } = converter.convertBatch(reply, { onError: 'return' });
        expect(documents[count - 1].path).toEqual(['nextBatch', String(count - 1), 'a']);
      };
    };
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      // Four times as many: four times the time, or sixteen if it were the square.
      expect(timeRatio(errorsOf(5_000), errorsOf(20_000))).toBeLessThan(10);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  });
});

const GIGABYTES = 4;
const available = process.availableMemory?.() ?? freemem();

describeUnless(
  available < GIGABYTES * 2 ** 30 && `less than ${GIGABYTES} GB of memory are free`,
  'text that is too long for JavaScript',
  () => {
    const SETTING_LONG = `
      const length = ${constants.MAX_STRING_LENGTH} + 1;
      const make = (byte) => {
        const head = Buffer.concat([Buffer.alloc(4), Buffer.from('\\x10_id\\0\\x01\\0\\0\\0\\x02s\\0'), Buffer.alloc(4)]);
        const bytes = new Uint8Array(head.length + length + 2);
        bytes.set(head);
        bytes.fill(byte, head.length, head.length + length);
        const view = new DataView(bytes.buffer);
        view.setInt32(0, bytes.length, true);
        view.setInt32(head.length - 4, length + 1, true);
        return bytes;
      };
      const outcomeOf = (converter, source) => {
        try { converter.rawToSqliteRow(source); } catch (error) {
          return [error instanceof RangeError, error.code, 'offset' in error, 'path' in error];
        }
      };
    `;
    const TOO_LONG = [true, 'BSONROW_TEXT_TOO_LONG', false, false];

    for (const [title, byte] of Object.entries({ ASCII: 0x78, 'ill-formed UTF-8': 0xff })) {
      it(`is a RangeError: ${title}`, () => {
        const outcome = runQuietly(`${SETTING_LONG}
          report(outcomeOf(new addon.NativeSourceRowConverter(1), make(${byte})));
        `);
        expect(outcome).toEqual(TOO_LONG);
      });
    }

    it('likewise without a copy, and the source is let go', () => {
      const [outcome, isAlive] = runQuietly(
        `${SETTING_LONG}
        const converter = new addon.NativeSourceRowConverter(1, { zeroCopy: true });
        let source = make(0x78);
        const weak = new WeakRef(source.buffer);
        const outcome = outcomeOf(converter, source);
        source = undefined;
        for (let round = 0; round < 5; round++) {
          await new Promise((resolve) => setImmediate(resolve));
          gc();
        }
        report([outcome, weak.deref() !== undefined]);
        `,
        ['--expose-gc'],
      );
      expect(outcome).toEqual(TOO_LONG);
      expect(isAlive).toBe(false);
    });

    it('off the main thread: the error of its document alone', () => {
      const outcome = runQuietly(`${SETTING_LONG}
        const small = require('bson').serialize({ _id: 2 });
        const converter = new addon.NativeSourceRowConverter(1);
        const [before, error, after] = await converter.convertDocumentsAsync([small, make(0x78), small], { onError: 'return' });
        report([before.replicaId, outcomeOf({ rawToSqliteRow: () => { throw error; } }), error.index, error._id, after.replicaId]);
      `);
      expect(outcome).toEqual([2, TOO_LONG, 1, 1, 2]);
    });
  },
);
