// The command is killed at random moments of a run and started again, until it is through; then its tables hold what
// follows from the events without it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { seed } from '../../__test__/support/random.mjs';
import { writeBson } from './support/captures.mjs';
import { startCommand } from './support/command.mjs';
import { finalState, parse } from './support/expected.mjs';
import { makeMixedEvents, makeRandom } from './support/mixed-events.mjs';
import { readPostgres, startPostgres } from './support/postgres.mjs';
import { expectSame, makeFolder, readReplica } from './support/replica.mjs';

const KILLS = 25;
const EVENTS = 3000;
/** Of the time that a whole run takes, when a kill comes at the earliest: before that, nothing has been read. */
const EARLIEST = 0.2;

const { server, missing } = await startPostgres();
const folder = makeFolder();

async function run(args, killAfter) {
  const { child, ended } = startCommand(args);
  const timer = killAfter === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfter);
  try {
    return await ended;
  } finally {
    clearTimeout(timer);
  }
}

/** What a run takes that is not killed, under the load there is. */
async function durationOf(capture, into) {
  writeFileSync(capture, Buffer.concat(makeMixedEvents(seed, EVENTS)));
  const start = performance.now();
  await run([capture, '--into', into, '--batch-rows', '30'], null);
  return performance.now() - start;
}

/**
 * Rounds of another capture each, until the command was killed often enough.
 * @param {() => Promise<{ address: string, read: () => Promise<Map<string, object[]>> }>} newReplica
 */
async function killAgainAndAgain(expect, name, newReplica) {
  const random = makeRandom(seed);
  let kills = 0;
  let midway = 0;
  const duration = await durationOf(join(folder, `${name}.bson`), join(folder, `${name}-whole.sqlite`));
  // Until it was killed in the middle, too: a test that never does shows nothing.
  const isEnough = () => kills >= KILLS && midway > 0;
  for (let round = 0; !isEnough(); round += 1) {
    const events = makeMixedEvents(seed + round, EVENTS);
    const file = writeBson(folder, `${name}-${round}.bson`, events);
    const { address, read } = await newReplica(round);
    for (let isThrough = false; !isThrough; ) {
      const batchRows = 1 + Math.floor(random() ** 3 * 300);
      const killAfter = isEnough() ? null : (EARLIEST + random() * (1 - EARLIEST)) * duration;
      const args = [file, '--into', address, '--batch-rows', String(batchRows), '--retry-delay', '20'];
      const { code, stdout, stderr } = await run(args, killAfter);
      if (code === null) {
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
  console.log(`crash test, ${name}: killed ${kills} times; ${midway} runs ended what a killed one had begun`);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}

// Each waits for its processes most of the time.
describe.concurrent('killed at any moment, nothing is lost and nothing is there twice', () => {
  test(`SQLite, ${KILLS} kills`, { timeout: 120_000 }, async ({ expect }) => {
    await killAgainAndAgain(expect, 'sqlite', async (round) => {
      const address = join(folder, `${round}.sqlite`);
      for (const suffix of ['', '-wal', '-shm']) rmSync(address + suffix, { force: true });
      return { address, read: async () => readReplica(address) };
    });
  });

  test.skipIf(server === null)(
    `PostgreSQL, ${KILLS} kills ${missing}`,
    { timeout: 120_000 },
    async ({ expect }) => {
      await killAgainAndAgain(expect, 'postgresql', async () => {
        const address = await server.newDatabase();
        return { address, read: () => readPostgres(server, address) };
      });
    },
  );
});
