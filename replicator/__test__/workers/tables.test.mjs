// Several processes leave the tables that one leaves.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeBson } from '../support/captures.mjs';
import { finalState, parse } from '../support/expected.mjs';
import { makeMixedEvents } from '../support/mixed-events.mjs';
import { readPostgres, replicateInto, startPostgres } from '../support/postgres.mjs';
import { DATA, makeFolder, readReplica, replicate, SAMPLE, sortRows } from '../support/replica.mjs';
import { progressOf, stateOf } from '../support/workers.mjs';

const { server, missing } = await startPostgres();
const folder = makeFolder();
let files = 0;
const nextFile = () => {
  files += 1;
  return join(folder, `${files}.sqlite`);
};

const WAYS = [
  ['2 workers', ['--workers', '2']],
  ['3 workers', ['--workers', '3']],
  ['2 workers, as JSON', ['--workers', '2', '--messages', 'json']],
  ['3 workers, as JSON', ['--workers', '3', '--messages', 'json']],
];

function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .filter((name) => /\.bson(\.gz)?$/.test(name))
    .map((name) => join(directory, name))
    .sort();
}

/** What is cut short ends a run. */
const isWhole = (name) => !name.endsWith('partial_file.bson');
/** By name: inputs, and the options they need. */
const INPUTS = {
  dumps: [
    ...['dumps', 'datasets'].flatMap((name) => filesUnder(join(DATA, name)).filter(isWhole)),
    '--format',
    'documents',
  ],
  streams: [...filesUnder(join(DATA, 'events/streams')), join(DATA, 'events/a/all_events.bson.gz')],
};

/** The account of a run, without what differs from run to run. */
const accountOf = (stdout) => stdout.replace(/^\d+\.\d+ MiB of BSON.*\nConverter.*\n/m, '');

describe.skipIf(!existsSync(DATA)).each(Object.entries(INPUTS))('shared data, %s', (_name, input) => {
  const args = [...input, '--on-error', 'skip', '--skip-log', '/dev/null'];

  test('SQLite', { timeout: 240_000 }, async () => {
    const alone = nextFile();
    const expected = await replicate(...args, '--into', alone);
    expect(expected.code).toBe(0);
    for (const [name, options] of WAYS) {
      const file = nextFile();
      const { code, stdout, stderr } = await replicate(...args, '--into', file, ...options);
      expect(code, stderr).toBe(0);
      expect(accountOf(stdout), name).toBe(accountOf(expected.stdout));
      expect(stateOf(file), name).toEqual(stateOf(alone));
      expect(progressOf(file), name).toEqual(progressOf(alone));
    }
  });

  test('nothing stored', { timeout: 120_000 }, async () => {
    const expected = await replicate(...args, '--dry-run');
    expect(expected.code).toBe(0);
    for (const [name, options] of WAYS) {
      const { code, stdout } = await replicate(...args, '--dry-run', ...options);
      expect(code).toBe(0);
      expect(accountOf(stdout), name).toBe(accountOf(expected.stdout));
    }
  });

  test.skipIf(server === null)(`PostgreSQL ${missing}`, { timeout: 240_000 }, async () => {
    const stateIn = async (address) =>
      [...(await readPostgres(server, address))].map(([namespace, rows]) => [namespace, sortRows(rows)]);
    const alone = await server.newDatabase();
    const [input, ...more] = args;
    expect((await replicateInto(alone, input, ...more)).code).toBe(0);
    const expected = await stateIn(alone);
    for (const [name, options] of WAYS.slice(0, 2)) {
      const address = await server.newDatabase();
      const { code, stderr } = await replicateInto(address, input, ...more, ...options);
      expect(code, stderr).toBe(0);
      expect(await stateIn(address), name).toEqual(expected);
    }
  });
});

/** Drops and renames come between the rows of several collections, two of which want the same name in SQLite. */
describe.each([11, 12, 13])('a capture in which the order counts, seed %i', (seed) => {
  const events = makeMixedEvents(seed, 3000);
  const expected = finalState(events.map(parse));
  const compare = (replica) => {
    expect([...replica.keys()]).toEqual([...expected.keys()].sort());
    for (const [namespace, rows] of replica)
      expect(sortRows(rows), namespace).toEqual(sortRows([...expected.get(namespace).values()]));
  };

  test.each(WAYS)('%s into SQLite', { timeout: 60_000 }, async (_name, options) => {
    const input = writeBson(folder, `${seed}.bson`, events);
    const [alone, file] = [nextFile(), nextFile()];
    const args = [input, '--batch-rows', '70'];
    expect((await replicate(...args, '--into', alone)).code).toBe(0);
    expect((await replicate(...args, '--into', file, ...options)).code).toBe(0);
    compare(readReplica(file));
    expect(stateOf(file).tables).toEqual(stateOf(alone).tables);
  });

  test.skipIf(server === null)(`PostgreSQL ${missing}`, { timeout: 60_000 }, async () => {
    const input = writeBson(folder, `${seed}.bson`, events);
    for (const [, options] of WAYS.slice(0, 2)) {
      const address = await server.newDatabase();
      const { code, stderr } = await replicateInto(address, input, '--batch-rows', '70', ...options);
      expect(code, stderr).toBe(0);
      compare(await readPostgres(server, address));
    }
  });
});

describe('the options of a run', () => {
  test.each(WAYS.slice(0, 2))(
    '%s: --limit, --collection, --show, --fresh, --quiet',
    { timeout: 60_000 },
    async (_name, options) => {
      const [alone, file] = [nextFile(), nextFile()];
      for (const args of [
        ['--limit', '300'],
        ['--limit', '250', '--show', '2'],
        ['--collection', 'shop.orders', '--fresh', '--show', '3'],
        ['--quiet', '--fresh'],
      ]) {
        const expected = await replicate(SAMPLE, '--into', alone, ...args);
        const { code, stdout, stderr } = await replicate(SAMPLE, '--into', file, ...args, ...options);
        expect(code, stderr).toBe(0);
        expect(accountOf(stdout)).toBe(accountOf(expected.stdout));
        expect(stateOf(file)).toEqual(stateOf(alone));
      }
    },
  );

  test.each([
    [['--workers', '0'], /It must be a whole number above 0/],
    [['--workers', '1.5'], /It must be a whole number above 0/],
    [['--workers', 'many'], /It must be a whole number above 0/],
    [['--workers', '65'], /It must be 64 at most/],
    [['--workers', '2', '--messages', 'xml'], /Allowed choices are messagepack, json/],
    [['--messages', 'json'], /--messages is for --workers 2 and more/],
  ])('wrong: %j', async (options, message) => {
    const { code, stderr } = await replicate(SAMPLE, '--into', nextFile(), ...options);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
