/**
 * The classes and functions of an implementation of BSON are the caller's, and they run while the addon makes its
 * objects: whatever they do to the source or ask of the converter, results are right or there is an error, and the
 * process lives. Each case in a process of its own. Likewise what a long batch takes of memory.
 */
import { describe, expect, it } from 'vitest';
import { runScript } from './support/run-script.mjs';

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
        if (calls === 10) detach(buffers[20]);
        if (calls === 50) buffers.length = 100;
        if (calls === 60) buffers[70] = 'no longer bytes';
      };
      const results = converter.convertDocuments(buffers, { onError: 'return' });
      report([results.length, results.flatMap((each, index) => (each instanceof TypeError ? [index] : []))]);
    `);
    expect(outcome[0]).toBe(200);
    expect(outcome[1]).toEqual([20, 70, ...Array.from({ length: 100 }, (_, index) => index + 100)]);
  });

  it('one event whose constructors convert others', () => {
    const outcome = runScript(`${SETTING}
      disturb = () => { converter.convertChange(serialize(eventOf(3))); };
      report(convert(() => events.map((event) => converter.convertChange(serialize(event)))));
    `);
    expect(outcome).toEqual({ length: 200, wrong: 0, errors: 0 });
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
      const before = memoryAfter(5);
      report((memoryAfter(25) - before) / 2 ** 20);
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
});
