// Checks what the demo left in replicator/demo.sqlite: the rows that follow from its events without the addon.
import assert from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { finalState, parse, splitDocuments } from '../replicator/__test__/support/expected.mjs';
import { readReplica, SAMPLE, sortRows } from '../replicator/__test__/support/replica.mjs';

const database = fileURLToPath(new URL('../replicator/demo.sqlite', import.meta.url));
if (!existsSync(database)) {
  console.error(`There is no ${database}: run npm run demo first.`);
  process.exit(1);
}

const events = splitDocuments(gunzipSync(readFileSync(SAMPLE))).map(({ bytes }) => parse(bytes));
const expected = finalState(events);
const replica = readReplica(database);
assert.deepStrictEqual([...replica.keys()], [...expected.keys()].sort());
for (const [namespace, rows] of replica) {
  assert.deepStrictEqual(sortRows(rows), sortRows([...expected.get(namespace).values()]), namespace);
  console.log(`${namespace}: ${rows.length} rows as expected`);
}
