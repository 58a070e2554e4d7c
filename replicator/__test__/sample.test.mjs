// The sample capture end to end, against the state that follows from its events without the addon.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCapture } from '../samples/make-samples.mjs';
import { finalState, parse, splitDocuments } from './support/expected.mjs';
import { expectSame, makeFolder, query, readReplica, replicate, SAMPLE } from './support/replica.mjs';

const folder = makeFolder();
const database = join(folder, 'shop.sqlite');
const capture = gunzipSync(readFileSync(SAMPLE));
let result;

beforeAll(async () => {
  result = await replicate(SAMPLE, '--into', database, '--show', 2);
});

test('the sample is what its script writes, and small', () => {
  expect(makeCapture().equals(capture)).toBe(true);
  expect(readFileSync(SAMPLE).length).toBeLessThanOrEqual(400_000);
});

test('the tables hold what the events end in', () => {
  const expected = finalState(splitDocuments(capture).map(({ bytes }) => parse(bytes)));
  const replica = readReplica(database);
  expectSame(replica, expected);
  expect(replica.get('shop.orders').length).toBeGreaterThan(500);
});

test('the dropped collection is gone, the renamed one has its new name', () => {
  const tables = query(database, 'SELECT namespace FROM _bsonrow_tables ORDER BY namespace').flat();
  expect(tables).toContain('shop.reviews');
  expect(tables).not.toContain('shop.carts');
});

test('the end of the output: operations, rows, rates, warnings, first rows', () => {
  expect(result.code).toBe(0);
  expect(result.stderr).toBe('');
  const { stdout } = result;
  expect(stdout).toMatch(
    /^Read: \d{4} documents \(\d+ insert, \d+ update, \d+ delete, \d+ replace,.* 1 rename/,
  );
  expect(stdout).toMatch(/shop\.customers +\d+ +0 +60 +shop\.customers/);
  expect(stdout).toMatch(/MiB of BSON in [\d.]+ s: [\d.]+ MiB\/s, \d+ documents\/s/);
  expect(stdout).toMatch(/Converter: [\d.]+ s \([\d.]+ MiB\/s\); sink: [\d.]+ s/);
  expect(stdout).toMatch(/1 × update without fullDocument/);
  expect(stdout).toMatch(/1 × operation that is not known here, left out; first: futureOperation/);
  expect(stdout).toMatch(/\nshop\.products\n_id +title/);
});

test('dates follow --dates', async () => {
  const dateIn = async (mode) => {
    const file = join(folder, `${mode}.sqlite`);
    await replicate(SAMPLE, '--into', file, '--dates', mode, '-q');
    return query(file, `SELECT updatedAt FROM "shop.products" WHERE _id = 'SKU-0001'`)[0][0];
  };
  const iso = await dateIn('iso');
  expect(iso).toMatch(/^2024-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await dateIn('legacy')).toBe(iso.replace('T', ' '));
  expect(await dateIn('iso-seconds')).toBe(iso.replace(/\.\d{3}/, ''));
});

describe('however the run is cut up', () => {
  test.each([1, 7, 100_000])('transactions of %i changes give the same tables', async (batch) => {
    const file = join(folder, `batch-${batch}.sqlite`);
    expect((await replicate(SAMPLE, '--into', file, '--batch-rows', batch, '-q')).code).toBe(0);
    expect(readReplica(file)).toEqual(readReplica(database));
  });

  test('runs of 400 events each give the same tables', async () => {
    const file = join(folder, 'limits.sqlite');
    for (let i = 0; i < 7; i += 1) await replicate(SAMPLE, '--into', file, '--limit', 400, '-q');
    expect(readReplica(file)).toEqual(readReplica(database));
  });

  test('a second run changes nothing', async () => {
    const before = readReplica(database);
    const again = await replicate(SAMPLE, '--into', database);
    expect(again.stdout).toMatch(/Read: 0 documents\nAlready applied by an earlier run: \d{4}/);
    expect(readReplica(database)).toEqual(before);
  });
});
