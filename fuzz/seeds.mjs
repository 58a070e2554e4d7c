// Makes the fuzzer's first inputs from ../shared/data: real documents of all kinds, and the official corpus.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const data = process.env.BSONROW_DATA ?? join(root, '..', 'shared', 'data');
const corpus = join(root, 'fuzz', 'corpus');

/** Targets that take documents. */
const TARGETS = ['row', 'strict', 'identity', 'event', 'message'];
/** Larger inputs slow a fuzzer down and show nothing more. */
const MAX_BYTES = 4096;
const MAX_DOCUMENTS_OF_A_FILE = 20;
const MIN_DOCUMENT_BYTES = 5;

/** The documents that stand one after another in a file. */
function* documentsOf(bytes) {
  let start = 0;
  for (let count = 0; count < MAX_DOCUMENTS_OF_A_FILE && start + 4 <= bytes.length; count++) {
    const length = bytes.readInt32LE(start);
    if (length < MIN_DOCUMENT_BYTES || start + length > bytes.length) return;
    yield bytes.subarray(start, start + length);
    start += length;
  }
}

/** The documents of a test of the official corpus, which are written in hexadecimal. */
function* documentsOfTests(text) {
  for (const [, digits] of text.matchAll(/"(?:canonical_bson|degenerate_bson|bson)":\s*"([0-9A-Fa-f]*)"/g)) {
    yield Buffer.from(digits, 'hex');
  }
}

function* documents() {
  for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    if (entry.name.endsWith('.bson')) yield* documentsOf(bytes);
    else if (entry.name.endsWith('.bson.gz')) yield* documentsOf(gunzipSync(bytes));
    else if (entry.name.endsWith('.json')) yield* documentsOfTests(bytes.toString());
  }
}

if (!existsSync(data)) {
  console.log(`Skipped: there is no ${data}, so the fuzzer begins with nothing.`);
  process.exit();
}
for (const target of TARGETS) mkdirSync(join(corpus, target), { recursive: true });
let count = 0;
for (const document of documents()) {
  if (document.length > MAX_BYTES) continue;
  const name = createHash('sha1').update(document).digest('hex');
  for (const target of TARGETS) writeFileSync(join(corpus, target, name), document);
  count += 1;
}
console.log(`${count} documents are seeds in fuzz/corpus.`);
