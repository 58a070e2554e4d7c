// The command, or a process that applies for it, is killed at random moments, and the run started again until it is
// through; then its tables hold what follows from the events without it.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { seed } from '../../../__test__/support/random.mjs';
import { writeBson } from '../support/captures.mjs';
import { startCommand } from '../support/command.mjs';
import { finalState, parse } from '../support/expected.mjs';
import { makeMixedEvents, makeRandom } from '../support/mixed-events.mjs';
import { readPostgres, startPostgres } from '../support/postgres.mjs';
import { expectSame, makeFolder, readReplica, replicate, sortRows } from '../support/replica.mjs';
import { childrenOf, isAlive, progressOf } from '../support/workers.mjs';

const KILLS = 15;
const EVENTS = 3000;
/** Milliseconds after the processes that apply are there. */
const KILL_WITHIN = 900;

const isLinux = process.platform === 'linux';
const { server, missing } = await startPostgres();
const folder = makeFolder();

async function until(condition, { child }) {
  while (!condition() && child.exitCode === null && child.signalCode === null) await sleep(2);
}

/** Kills the command or one of the others; which, and how it all ended. */
async function killOne(run, count, random) {
  const { child, ended } = run;
  await until(() => childrenOf(child.pid).length === count, run);
  const appliers = childrenOf(child.pid);
  await Promise.race([sleep(random() * KILL_WITHIN), ended]);
  const isCommand = random() < 0.5 || appliers.length === 0;
  const pid = isCommand ? child.pid : appliers[Math.floor(random() * appliers.length)];
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was through already.
  }
  return { isCommand, appliers, ...(await ended) };
}

/**
 * @param {number} workers
 * @param {() => Promise<{ address: string, read: () => Promise<Map<string, object[]>> }>} newReplica
 */
async function killAgainAndAgain(name, workers, newReplica) {
  const random = makeRandom(seed);
  let kills = 0;
  let midway = 0;
  // Until it was killed in the middle, too: a test that never does shows nothing.
  const isEnough = () => kills >= KILLS && midway > 0;
  for (let round = 0; !isEnough(); round += 1) {
    const events = makeMixedEvents(seed + round, EVENTS);
    const file = writeBson(folder, `${name}-${workers}-${round}.bson`, events);
    const { address, read } = await newReplica(round);
    for (let isThrough = false; !isThrough; ) {
      const batchRows = 1 + Math.floor(random() ** 3 * 300);
      const args = [file, '--into', address, '--batch-rows', String(batchRows), '--retry-delay', '20'];
      const run = startCommand([...args, '--workers', String(workers)]);
      const { code, stdout, stderr, isCommand } = isEnough()
        ? await run.ended
        : await killOne(run, workers - 1, random);
      if (code === null) {
        kills += 1;
      } else if (code === 1) {
        expect(isCommand).toBe(false);
        expect(stderr).toMatch(/the process that applies \(\d of \d\) was ended by SIGKILL: start again/);
        kills += 1;
      } else {
        expect(code, stderr).toBe(0);
        const applied = Number(/Already applied by an earlier run: (\d+)/.exec(stdout)?.[1] ?? 0);
        expect(Number(/^Read: (\d+)/.exec(stdout)[1]) + applied).toBe(EVENTS);
        if (applied > 0 && applied < EVENTS) midway += 1;
        isThrough = true;
      }
    }
    const expected = finalState(events.map(parse));
    const replica = await read();
    expectSame(replica, expected);
  }
  console.log(
    `crash test, ${name}, ${workers} workers: killed ${kills} times; ${midway} runs ended what a killed one began`,
  );
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}

describe.skipIf(!isLinux).each([2, 3])('%i workers, killed at any moment', (workers) => {
  test(`SQLite, ${KILLS} kills`, { timeout: 240_000 }, async () => {
    await killAgainAndAgain('sqlite', workers, async (round) => {
      const address = join(folder, `${workers}-${round}.sqlite`);
      return { address, read: async () => readReplica(address) };
    });
  });

  test.skipIf(server === null)(`PostgreSQL, ${KILLS} kills ${missing}`, { timeout: 240_000 }, async () => {
    await killAgainAndAgain('postgresql', workers, async () => {
      const address = await server.newDatabase();
      return { address, read: () => readPostgres(server, address) };
    });
  });
});

describe.skipIf(!isLinux)('the end of a run', () => {
  // None that concerns a whole collection: behind such a one no process has an entry of its own.
  const events = makeMixedEvents(seed, 20_000).filter((event) =>
    /^(insert|update|replace|delete)$/.test(parse(event).operationType),
  );
  const args = (name, file) => [file, '--into', join(folder, name), '--batch-rows', '20', '--workers', '3'];
  const startIn = async (name) => {
    const run = startCommand(args(name, writeBson(folder, `${name}.bson`, events)));
    await until(() => childrenOf(run.child.pid).length === 2, run);
    return { ...run, appliers: childrenOf(run.child.pid) };
  };
  const untilStored = async (name, run) => {
    await until(() => {
      try {
        return progressOf(join(folder, name)).length > 1;
      } catch {
        return false;
      }
    }, run);
  };

  test('the command is killed: the others end by themselves', { timeout: 30_000 }, async () => {
    const run = await startIn('orphans.sqlite');
    await untilStored('orphans.sqlite', run);
    run.child.kill('SIGKILL');
    await run.ended;
    while (run.appliers.some(isAlive)) await sleep(5);
  });

  test('one is killed: the others end well, with what they were given', { timeout: 30_000 }, async () => {
    const run = await startIn('one.sqlite');
    await untilStored('one.sqlite', run);
    process.kill(run.appliers[1], 'SIGKILL');
    const { code, stderr } = await run.ended;
    expect(stderr).toBe(
      'bsonrow-replicate: the process that applies (2 of 2) was ended by SIGKILL: start again, and the run goes on from what is stored\n',
    );
    expect(code).toBe(1);
    expect(run.appliers.some(isAlive)).toBe(false);
  });

  test('cut short, another number of workers does not go on; after a clean end, any does', {
    timeout: 60_000,
  }, async () => {
    const name = 'number.sqlite';
    const file = join(folder, `${name}.bson`);
    const run = await startIn(name);
    await untilStored(name, run);
    run.child.kill('SIGKILL');
    await run.ended;
    // Both entries may happen to be of one place.
    const parts = progressOf(join(folder, name)).filter(([entry]) => entry.includes(' part '));
    expect(parts.length).toBeGreaterThan(0);
    const isEven = parts.length === 2 && parts[0][1] === parts[1][1];
    for (const other of isEven ? [] : ['1', '2', '4']) {
      const { code, stderr } = await replicate(file, '--into', join(folder, name), '--workers', other);
      expect(stderr).toBe(
        'bsonrow-replicate: the run before was begun with --workers 3 and was cut short: go on with that, or begin anew with --fresh\n',
      );
      expect(code).toBe(2);
    }
    expect((await replicate(...args(name, file))).code).toBe(0);
    expect(progressOf(join(folder, name))).toHaveLength(1);
    const more = makeMixedEvents(seed + 1, 300);
    for (const [at, workers] of ['1', '4', '2'].entries()) {
      writeBson(folder, `${name}.bson`, [...events, ...more.slice(0, 100 * (at + 1))]);
      const { code, stdout } = await replicate(file, '--into', join(folder, name), '--workers', workers);
      expect(code).toBe(0);
      expect(stdout).toContain('Read: 100 documents');
    }
    const expected = finalState([...events, ...more].map(parse));
    for (const [namespace, rows] of readReplica(join(folder, name)))
      expect(sortRows(rows)).toEqual(sortRows([...expected.get(namespace).values()]));
  });

  test('Ctrl-C, which a terminal sends to all: what was read is stored', { timeout: 60_000 }, async () => {
    const name = 'interrupted.sqlite';
    const run = await startIn(name);
    await untilStored(name, run);
    for (const pid of [...run.appliers, run.child.pid]) process.kill(pid, 'SIGINT');
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    const read = Number(/^Read: (\d+)/.exec(stdout)[1]);
    expect(read).toBeLessThan(events.length);
    expect(progressOf(join(folder, name))).toHaveLength(1);
    const next = await replicate(...args(name, join(folder, `${name}.bson`)));
    expect(next.stdout).toContain(`Already applied by an earlier run: ${read}`);
    expect(next.code).toBe(0);
  });
});
