// Whether cost grows with size alone, and memory with nothing: time an event in batches of 100 to 10,000, time a byte from
// documents of 1 KB to 16 MB, and the process's memory over gigabytes of mixed documents. Run with `npm run bench:growth`.
import { parseArgs } from 'node:util';
import { NativeSourceRowConverter } from '../index.js';
import { serialize } from './generate/bson.mjs';
import { order } from './generate/order.mjs';
import { Random } from './generate/random.mjs';
import { reply } from './generate/reply.mjs';
import { median } from './statistics.mjs';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Items of an order, for documents of about 1 KB to 16 MB. */
const ITEMS = [6, 60, 600, 6_000, 100_000];
/** Events in a batch; as many in all, so that each size walks through as much memory. */
const BATCHES = [100, 1_000, 10_000];
const EVENTS = 10_000;
const DOCUMENT_BYTES = 963;
/** The first bytes, after which memory is taken to have found its level. */
const SETTLED = 100 * MIB;
/** MiB that memory may grow by from then on. */
const MAX_GROWTH = 64;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    gigabytes: { type: 'string', default: '10' },
  },
});
const gigabytes = values.quick ? 0.5 : Number(values.gigabytes);
if (!(gigabytes > 0)) {
  console.error('--gigabytes takes a number above 0');
  process.exit(2);
}

const converter = new NativeSourceRowConverter(1);
const random = new Random(16);
const documents = ITEMS.map((items) => serialize(order(random, items)));

/** Nanoseconds a part of `work`: the median of rounds. */
function timePerPart(parts, work) {
  const rounds = Array.from({ length: values.quick ? 3 : 11 }, () => {
    const start = performance.now();
    work();
    return ((performance.now() - start) * 1e6) / parts;
  });
  return median(rounds);
}

/** Of some 20 MB of a document. */
function timePerByte(document) {
  const passes = Math.max(1, Math.ceil((20 * MIB) / document.length));
  return timePerPart(passes * document.length, () => {
    for (let pass = 0; pass < passes; pass++) converter.rawToSqliteRow(document);
  });
}

/** Of a batch that nobody keeps: what V8's collector does for objects that live on grows with what else lives. */
function timePerEvent(replies) {
  return timePerPart(EVENTS, () => {
    for (const bytes of replies) converter.convertBatch(bytes);
  });
}

/** Twice: the first time is the warm-up. */
function printTimes(title, entries, { measure, unit }) {
  console.log(title);
  const measureAll = () => entries.map(({ subject }) => measure(subject));
  measureAll();
  const times = measureAll();
  entries.forEach(({ size }, index) => {
    const relative = times[index] / times[0];
    console.log(
      `${size.padStart(18)}  ${times[index].toFixed(3)} ns ${unit}  ${relative.toFixed(2)} of the first`,
    );
  });
}

printTimes(
  'Time an event by the size of the batch',
  BATCHES.map((count) => ({
    subject: Array.from({ length: EVENTS / count }, () => serialize(reply(random, count, DOCUMENT_BYTES))),
    size: `${count.toLocaleString('en')} events`,
  })),
  { measure: timePerEvent, unit: 'an event' },
);

printTimes(
  '\nTime a byte by the size of the document',
  documents.map((subject) => ({ subject, size: `${subject.length.toLocaleString('en')} bytes` })),
  { measure: timePerByte, unit: 'a byte' },
);

console.log(`\nMemory over ${gigabytes} GiB of these documents, mixed`);
let settled;
let read = 0;
let next = GIB;
let turn = 0;
const resident = () => {
  globalThis.gc?.();
  return process.memoryUsage.rss() / MIB;
};
while (read < gigabytes * GIB) {
  // As many bytes of each size.
  const document = documents[turn++ % documents.length];
  for (let bytes = 0; bytes < 16 * MIB; bytes += document.length) {
    converter.rawToSqliteRow(document);
    read += document.length;
  }
  if (settled === undefined && read >= SETTLED) {
    settled = resident();
    console.log(`${'100 MiB'.padStart(10)}  ${settled.toFixed(0)} MiB resident`);
  }
  if (read >= next || read >= gigabytes * GIB) {
    console.log(`${(read / GIB).toFixed(1).padStart(6)} GiB  ${resident().toFixed(0)} MiB resident`);
    next += GIB;
  }
}
const grown = resident() - settled;
console.log(`Grown since 100 MiB: ${grown.toFixed(0)} MiB, of ${MAX_GROWTH} that it may`);
process.exitCode = grown > MAX_GROWTH ? 1 : 0;
