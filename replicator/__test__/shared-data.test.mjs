// Every dump and every stream of the shared data, against js-bson. Skipped where the data is not there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expectedRow, finalState, idText, parse, splitDocuments } from './support/expected.mjs';
import { DATA, expectSame, makeFolder, readReplica, replicate, sortRows } from './support/replica.mjs';

const folder = makeFolder();
let files = 0;

function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .filter((name) => /\.bson(\.gz)?$/.test(name))
    .map((name) => relative(DATA, join(directory, name)))
    .sort();
}

function readData(name) {
  const bytes = readFileSync(join(DATA, name));
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

function nextDatabase() {
  files += 1;
  return join(folder, `${files}.sqlite`);
}

// js-bson gives a DBPointer and a document like {$ref, $id} as the same class, so rows that say they hold a
// DBPointer are counted only.
describe.skipIf(!existsSync(DATA))('shared data', () => {
  const dumps = [...filesUnder(join(DATA, 'dumps')), ...filesUnder(join(DATA, 'datasets'))];
  const broken = 'dumps/mongo-tools/bsondump/partial_file.bson';

  test.each(dumps.filter((name) => name !== broken))('%s', async (name) => {
    const database = nextDatabase();
    const args = [
      '--into',
      database,
      '--format',
      'documents',
      '--namespace',
      'db.coll',
      '--on-error',
      'skip',
    ];
    const { code, stdout } = await replicate(join(DATA, name), ...args);
    expect(code).toBe(0);

    const expected = new Map();
    let skipped = 0;
    for (const { bytes } of splitDocuments(readData(name))) {
      try {
        const document = parse(bytes);
        if (!Object.hasOwn(document, '_id')) throw new Error('no _id');
        expected.set(idText(document._id), expectedRow(document));
      } catch {
        skipped += 1;
      }
    }
    const rows = readReplica(database).get('db.coll') ?? [];
    const comparable = (all) => sortRows(all.filter(({ type }) => type !== 'dbpointer'));
    expect(rows).toHaveLength(expected.size);
    expect(comparable(rows)).toEqual(comparable([...expected.values()]));
    if (skipped > 0) expect(stdout).toContain(`${skipped} × document that cannot be converted, skipped`);
    else expect(stdout).not.toContain('cannot be converted');
  });

  test(`${broken}: what was before the damage is kept`, async () => {
    const database = nextDatabase();
    const { code, stderr } = await replicate(
      join(DATA, broken),
      '--into',
      database,
      '--namespace',
      'db.coll',
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/partial_file\.bson: byte 164: the file is cut short/);
    expect(readReplica(database).get('db.coll')).toHaveLength(2);
  });

  test.each(filesUnder(join(DATA, 'events/streams')))('%s', async (name) => {
    const database = nextDatabase();
    const { code } = await replicate(join(DATA, name), '--into', database);
    expect(code).toBe(0);
    const expected = finalState(splitDocuments(readData(name)).map(({ bytes }) => parse(bytes)));
    const replica = readReplica(database);
    expectSame(replica, expected);
  });

  test('events of every kind', async () => {
    const name = 'events/a/all_events.bson.gz';
    const database = nextDatabase();
    const { code, stdout } = await replicate(join(DATA, name), '--into', database, '--on-error', 'skip');
    expect(code).toBe(0);
    // Replies of a server and an event projected down to no namespace cannot be applied.
    const events = splitDocuments(readData(name)).map(({ bytes }) => parse(bytes));
    const isApplicable = (event) =>
      event.splitEvent !== undefined ||
      (typeof event.operationType === 'string' &&
        (event.ns !== undefined || event.operationType === 'invalidate'));
    const expected = finalState(events.filter(isApplicable));
    const skipped = events.filter((event) => !isApplicable(event)).length;
    expect(stdout).toContain(`${skipped} × document that cannot be converted, skipped`);
    const replica = readReplica(database);
    for (const namespace of new Set([...replica.keys(), ...expected.keys()])) {
      const rows = [...(expected.get(namespace)?.values() ?? [])];
      expect(sortRows(replica.get(namespace) ?? []), namespace).toEqual(sortRows(rows));
    }
  });
});
