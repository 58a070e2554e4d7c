// Whether cost grows with size alone, and memory with nothing: time a byte from documents of 1 KB to 16 MB, and the
// process's memory over gigabytes of mixed documents. Run with `npm run bench:growth`.
import { parseArgs } from 'node:util';
import { NativeSourceRowConverter } from '../index.js';
import { serialize } from './generate/bson.mjs';
import { order } from './generate/order.mjs';
import { Random } from './generate/random.mjs';
import { median } from './statistics.mjs';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Items of an order, for documents of about 1 KB to 16 MB. */
const ITEMS = [6, 60, 600, 6_000, 100_000];
/** The first bytes, after which memory is taken to have found its level. */
const SETTLED = 100 * MIB;

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
const documents = ITEMS.map((items) => Buffer.from(serialize(order(random, items))));

/** Nanoseconds a byte: the median of rounds of some 20 MB each. */
function timePerByte(document) {
  const passes = Math.max(1, Math.ceil((20 * MIB) / document.length));
  const rounds = Array.from({ length: values.quick ? 3 : 11 }, () => {
    const start = performance.now();
    for (let pass = 0; pass < passes; pass++) converter.rawToSqliteRow(document);
    return ((performance.now() - start) * 1e6) / (passes * document.length);
  });
  return median(rounds);
}

console.log('Time a byte by the size of the document');
for (const document of documents) timePerByte(document);
const times = documents.map(timePerByte);
documents.forEach((document, index) => {
  const relative = times[index] / times[0];
  console.log(
    `${document.length.toLocaleString('en').padStart(12)} bytes  ${times[index].toFixed(3)} ns a byte  ` +
      `${relative.toFixed(2)} of the first`,
  );
});

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
console.log(`Grown since 100 MiB: ${(resident() - settled).toFixed(0)} MiB`);
