// One scenario of the benchmark off the main thread, in a process of its own: the answers are compared, then either
// call is measured in turn, once for its time of the CPU and once for the delay that it causes.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { NativeSourceRowConverter } from '../../index.js';
import * as peer from '../peer/index.mjs';
import { asyncScenarios } from './scenarios.mjs';

const WARM_UP = 3;
/** Milliseconds between two looks at the event loop. */
const RESOLUTION = 1;
/** Milliseconds that it is left alone before and after. */
const REST = 5 * RESOLUTION;

const converter = new NativeSourceRowConverter(peer.contextFor(1), { bson: peer.bson });
const contenders = {
  convertBatch: (reply) => converter.convertBatch(reply),
  convertBatchAsync: (reply) => converter.convertBatchAsync(reply),
};

/** Lets the results before go, and what is done in later turns of the event loop on their account. */
async function collect() {
  globalThis.gc();
  await after(REST);
}

/** Milliseconds of this thread's CPU, and until the result is there. */
async function timesOf(convert, reply) {
  await collect();
  const start = performance.now();
  const before = process.threadCpuUsage();
  const batch = await convert(reply);
  const elapsedMs = performance.now() - start;
  // Linux brings a thread's time up to date where it goes to sleep, otherwise every few milliseconds only.
  await after(REST);
  const { user, system } = process.threadCpuUsage(before);
  if (batch.id !== 1n) throw new Error('not the result of this reply');
  return { cpuMs: (user + system) / 1000, elapsedMs };
}

/** Milliseconds that the event loop comes late, at the worst. */
async function delayOf(convert, reply) {
  await collect();
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  await after(REST);
  await convert(reply);
  await after(REST);
  histogram.disable();
  return Math.max(0, histogram.max / 1e6 - RESOLUTION);
}

async function run({ id, rounds, bytes }) {
  if (process.threadCpuUsage === undefined) {
    return { skipped: 'process.threadCpuUsage is there from Node.js 23.9 on' };
  }
  const { count, reply } = asyncScenarios.find((scenario) => scenario.id === id).make(bytes);
  const [expected, actual] = [contenders.convertBatch(reply), await contenders.convertBatchAsync(reply)];
  if (!isDeepStrictEqual(actual, expected)) return { difference: 'the results are not the same' };
  for (let round = 0; round < WARM_UP; round++) {
    for (const convert of Object.values(contenders)) await convert(reply);
  }
  const taken = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, convert] of Object.entries(contenders)) {
      taken[name].push({ ...(await timesOf(convert, reply)), delayMs: await delayOf(convert, reply) });
    }
  }
  return { count, bytes: reply.length, taken };
}

process.send({ node: process.version, ...(await run(JSON.parse(process.argv[2]))) });
