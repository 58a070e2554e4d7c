/** Batches on other threads and what they hold: their sources, the process, worker threads, memory. */

import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { runScript } from './support/run-script.mjs';

/** What the scripts have in common. */
const SETTING = `
  const bson = require('bson');
  const LONG = 8 << 10;
  const bytesOf = (document) => Uint8Array.from(bson.serialize(document));
  const listOf = (count, make) => Array.from({ length: count }, (_, index) => make(index));
  const replyOf = (count, make = (index) => ({ _id: index, s: 'text ' + index, o: { n: index } })) =>
    bytesOf({ nextBatch: listOf(count, make), id: 1n, ns: 'a.b' });
  const converter = new addon.NativeSourceRowConverter(1);
  const zeroCopy = new addon.NativeSourceRowConverter(1, { zeroCopy: true });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  /** Finalizers run between turns, and what they let go is collected by the next collection. */
  const collect = async () => { for (let round = 0; round < 6; round++) { gc(); await turn(); } };
  const isAlive = (weak) => weak.deref() !== undefined;
`;
const FLAGS = ['--expose-gc'];

describe('the source', () => {
  it('is kept alive by the call alone, until its objects are made, whatever becomes of it', () => {
    const lives = runScript(
      `${SETTING}
      const COUNT = 30_000;
      /** [alive during the call, what it came to, alive afterwards] */
      const livesOf = async (call, ...sources) => {
        const weaks = sources.map((source) => new WeakRef(source.buffer));
        const outcome = call(...sources).then((value) => ({ value }), (reason) => ({ reason }));
        sources.length = 0;
        const during = [];
        let settled;
        outcome.then((value) => { settled = value; });
        for (let round = 0; settled === undefined; round++) {
          await turn();
          if (round < 2) {
            gc();
            during.push(weaks.some(isAlive));
            // Memory that is let go is written over.
            for (let index = 0; index < 20; index++) new Uint8Array(200_000).fill(0xff);
          }
        }
        await collect();
        const after = weaks.some(isAlive);
        const { value, reason } = settled;
        const come = reason ? reason.code ?? String(reason) : (value.documents ?? value).map((each) => each.index ?? Number(each.row._id)).join();
        return [during.every(Boolean), come, after];
      };
      const all = listOf(COUNT, (index) => index).join();
      const isAll = ([during, come, after]) => [during, come === all, after];
      const malformed = replyOf(COUNT).subarray(0, -1);
      // So many that two turns do not make all of them, however fast the machine is.
      const long = replyOf(10 * COUNT);
      /** What is behind a long batch of the same converter is not made in the first turns. */
      const behind = (call) => (...sources) => {
        converter.convertBatchAsync(long);
        return call(...sources);
      };
      const aborting = (when) => async (source) => {
        const controller = new AbortController();
        const promise = converter.convertBatchAsync(source, { signal: controller.signal });
        for (let index = 0; index < when; index++) await turn();
        controller.abort('aborted');
        return promise;
      };
      report({
        batch: isAll(await livesOf(behind((source) => converter.convertBatchAsync(source)), replyOf(COUNT))),
        documents: isAll(
          await livesOf(
            behind((...sources) => converter.convertDocumentsAsync(sources)), ...listOf(COUNT, (index) => bytesOf({ _id: index })),
          ),
        ),
        thrown: (await livesOf((...sources) => converter.convertDocumentsAsync(sources), bytesOf({ _id: 1 }), bytesOf({ a: 1 }))).slice(1),
        returned: (await livesOf(
          (...sources) => converter.convertDocumentsAsync(sources, { onError: 'return' }), bytesOf({ _id: 5 }), bytesOf({ a: 1 }),
        )).slice(1),
        malformed: (await livesOf((source) => converter.convertBatchAsync(source), Uint8Array.from(malformed))).slice(1),
        abortedAtOnce: (await livesOf(aborting(0), replyOf(COUNT))).slice(1),
        abortedLater: (await livesOf(aborting(2), long.slice())).slice(1),
      });
      `,
      FLAGS,
    );
    expect(lives).toEqual({
      batch: [true, true, false],
      documents: [true, true, false],
      thrown: ['BSONROW_NO_ID', false],
      returned: ['5,1', false],
      malformed: ['BSONROW_DOCUMENT_LENGTH', false],
      abortedAtOnce: ['aborted', false],
      abortedLater: ['aborted', false],
    });
  });

  it('is kept by a string over it with zeroCopy, and by nothing else', () => {
    const lives = runScript(
      `${SETTING}
      const livesOf = async (by, pick, document) => {
        const source = replyOf(3, (index) => (index === 1 ? document : { _id: index }));
        const weak = new WeakRef(source.buffer);
        const held = [pick((await by.convertBatchAsync(source)).documents)];
        return async () => {
          await collect();
          const withIt = isAlive(weak);
          held.pop();
          await collect();
          return [withIt, isAlive(weak)];
        };
      };
      const ascii = { _id: 1, s: 'x'.repeat(LONG) };
      const lives = {
        string: await livesOf(zeroCopy, (documents) => documents[1].row.s, ascii),
        other: await livesOf(zeroCopy, (documents) => documents[2], ascii),
        short: await livesOf(zeroCopy, (documents) => documents[1], { _id: 1, s: 'x'.repeat(LONG - 1) }),
        copied: await livesOf(converter, (documents) => documents[1], ascii),
      };
      for (const name of Object.keys(lives)) lives[name] = await lives[name]();
      report(lives);
      `,
      FLAGS,
    );
    expect(lives).toEqual({
      string: [true, false],
      other: [false, false],
      short: [false, false],
      copied: [false, false],
    });
  });
});

describe('results', () => {
  it('are kept by nobody but the caller', () => {
    const lives = runScript(
      `${SETTING}
      let batch = await converter.convertBatchAsync(replyOf(100));
      const weaks = [batch, batch.documents, batch.documents[50]].map((each) => new WeakRef(each));
      await collect();
      const before = weaks.map(isAlive);
      batch = undefined;
      await collect();
      report([before, weaks.map(isAlive)]);
      `,
      FLAGS,
    );
    expect(lives).toEqual([Array(3).fill(true), Array(3).fill(false)]);
  });
});

describe('an array that is nearly all holes', () => {
  it('is refused as by convertDocuments, without room for what is not there', () => {
    const outcome = runScript(`${SETTING}
      const holes = new Array(2 ** 32 - 1);
      const shape = ({ name, code, index }) => [name, code, index];
      const outcomes = [];
      try { converter.convertDocuments(holes); } catch (error) { outcomes.push(shape(error)); }
      await converter.convertDocumentsAsync(holes).catch((error) => outcomes.push(shape(error)));
      report(outcomes);
    `);
    expect(outcome).toEqual(Array(2).fill(['TypeError', 'BSONROW_INVALID_ARGUMENT', 0]));
  });
});

describe('memory', () => {
  it('does not grow over many batches: resolved, rejected, aborted', () => {
    const grown = runScript(
      `${SETTING}
      const text = (index) => ['x'.repeat(LONG), 'é'.repeat(3000), 'short ' + index][index % 3];
      const reply = replyOf(1000, (index) => ({ _id: new bson.ObjectId(), s: text(index), n: index, b: new bson.Binary(Buffer.alloc(100)), ['c' + (index % 40)]: 1.5 }));
      const malformed = reply.slice(0, -1);
      const documents = listOf(500, (index) => (index % 50 === 49 ? bytesOf({ no: 'id' }) : bytesOf({ _id: index, s: text(index) })));
      const round = async () => {
        const controller = new AbortController();
        const all = Promise.allSettled([
          converter.convertBatchAsync(reply),
          zeroCopy.convertBatchAsync(reply),
          converter.convertBatchAsync(malformed),
          converter.convertDocumentsAsync(documents),
          converter.convertDocumentsAsync(documents, { onError: 'return' }),
          converter.convertBatchAsync(reply, { signal: controller.signal }),
          converter.convertDocumentsAsync(documents, { signal: controller.signal }),
        ]);
        await turn();
        controller.abort();
        return (await all).map(({ status }) => status[0]).join('');
      };
      const memory = async () => {
        await collect();
        const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
        return { rss, heapUsed, external, arrayBuffers };
      };
      const rounds = async (count) => { let last; for (let index = 0; index < count; index++) last = await round(); return last; };
      await rounds(60);
      const before = await memory();
      const last = await rounds(120);
      const after = await memory();
      report([last, Object.fromEntries(Object.keys(before).map((name) => [name, (after[name] - before[name]) / 2 ** 20]))]);
      `,
      FLAGS,
    );
    expect(grown[0]).toBe('ffrrfrr');
    expect(grown[1].heapUsed).toBeLessThan(2);
    expect(grown[1].external).toBeLessThan(2);
    expect(grown[1].arrayBuffers).toBeLessThan(2);
    // A round alone takes some 20 MB.
    expect(grown[1].rss).toBeLessThan(100);
  });
});

describe('the process', () => {
  const run = (source) => {
    const { status, signal, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { cwd: import.meta.dirname, encoding: 'utf8', timeout: 60_000 },
    );
    return { status, signal, stdout, stderr };
  };
  const START = `
    import { createRequire } from 'node:module';
    const require = createRequire(${JSON.stringify(import.meta.filename)});
    const { NativeSourceRowConverter } = require('../index.js');
    const bson = require('bson');
    const reply = bson.serialize({
      nextBatch: Array.from({ length: 20_000 }, (_, index) => ({ _id: new bson.ObjectId(), s: 'text ' + index, o: { n: index } })),
      id: 1n,
      ns: 'a.b',
    });
    let onMade = () => {};
    class ObjectId extends bson.ObjectId {
      constructor(bytes) {
        super(bytes);
        onMade();
      }
    }
    const converter = new NativeSourceRowConverter(1, { bson: { ...bson, ObjectId } });
    const start = () => { for (let index = 0; index < 12; index++) converter.convertBatchAsync(reply).then(() => console.log('resolved')); };
  `;
  const ended = (status, stdout = '') => ({ status, signal: null, stdout, stderr: '' });

  it('can exit at once, while batches are read, and while they are made', () => {
    expect(run(`${START} start(); process.exit(7);`)).toEqual(ended(7));
    for (let delay = 0; delay < 6; delay++) {
      const { stdout, ...outcome } = run(
        `${START} start(); setTimeout(() => process.exit(7), ${4 * delay});`,
      );
      expect({ ...outcome, stdout: '' }).toEqual(ended(7));
    }
    expect(
      run(`${START} let made = 0; onMade = () => { if (++made === 500) process.exit(9); }; start();`),
    ).toEqual(ended(9));
  });

  it('does not end before a batch has its result', () => {
    expect(run(`${START} start();`)).toEqual(ended(0, 'resolved\n'.repeat(12)));
  });

  it('is ended by a rejection that nobody handles, as by any other', () => {
    const { status, stderr } = run(`${START} converter.convertBatchAsync(Buffer.alloc(2));`);
    expect(status).toBe(1);
    expect(stderr).toContain('BSONROW_DOCUMENT_LENGTH');
  });
});

describe('worker threads', () => {
  const worker = new URL('./support/async-worker.mjs', import.meta.url);

  it('give the same results, several at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise((resolve, reject) => {
            const thread = new Worker(worker, { workerData: { rounds: 5 } });
            thread.once('message', resolve);
            thread.once('error', reject);
          }),
      ),
    );
    expect(answers).toEqual(Array(3).fill({ batches: 20, rows: 20 * 5000, wrong: 0 }));
  });

  it('can be terminated at any time, twenty times', async () => {
    for (let round = 0; round < 20; round++) {
      const thread = new Worker(worker, { workerData: { rounds: 1_000_000 } });
      await new Promise((resolve, reject) => {
        thread.once('error', reject);
        thread.once('online', resolve);
      });
      await new Promise((resolve) => setTimeout(resolve, 7 * round));
      expect(await thread.terminate()).toBe(1);
    }
  });
});
