// A run that follows a server is killed at random moments, in its snapshot and in its stream, and started again, until
// it has caught up; then its tables hold what follows from the documents and events without it.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serialize } from 'bson';
import { describe, test } from 'vitest';
import { seed } from '../../../__test__/support/random.mjs';
import { startCommand } from '../support/command.mjs';
import { finalState, parse } from '../support/expected.mjs';
import { makeMixedEvents, makeRandom } from '../support/mixed-events.mjs';
import { readPostgres, startPostgres } from '../support/postgres.mjs';
import { expectSame, makeFolder, readReplica } from '../support/replica.mjs';
import { ReplayServer } from '../support/servers/replay-server.mjs';

const KILLS = 50;
const DOCUMENTS = 400;
const EVENTS = 1200;
/** Of the kills, so many come before the run has said anything to the server. */
const EARLY = 0.1;
const EARLY_MS = 300;
/** The others come so long after one of so many commands, at most: well within the work there is. */
const COMMANDS = 50;
const LATER_MS = 10;

const { server: postgres, missing } = await startPostgres();
const folder = makeFolder();

const documentsOf = (coll) =>
  Array.from({ length: DOCUMENTS }, (_, n) => Buffer.from(serialize({ _id: `key ${n}`, from: coll })));

/** As events of a capture would give it. */
const insertOf = (coll) => (document) => ({
  operationType: 'insert',
  ns: { db: 'shop', coll },
  fullDocument: parse(document),
});

/** Two collections, and a stream of mixed operations: the later half comes when it is released. */
async function startShop(round) {
  const collections = { 'shop.items': documentsOf('items'), 'shop.orders': documentsOf('orders') };
  const events = makeMixedEvents(seed + round, EVENTS);
  const half = EVENTS / 2;
  const server = new ReplayServer({ collections, events: events.slice(0, half) });
  const uri = await server.start();
  const truth = finalState([
    ...['items', 'orders'].flatMap((coll) => collections[`shop.${coll}`].map(insertOf(coll))),
    ...events.map(parse),
  ]);
  let isReleased = false;
  const release = () => {
    if (!isReleased) server.addEvents(...events.slice(half));
    isReleased = true;
  };
  return { server, address: `${uri}/shop`, truth, release };
}

/** Kills the run, unless it is over before. */
async function killAtRandom({ child, ended }, server, random) {
  const isEarly = random() < EARLY;
  const commands = server.commands.length + 1 + Math.floor(random() * COMMANDS);
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  while (!isEarly && server.commands.length < commands && !isOver) await sleep(1);
  await sleep(random() * (isEarly ? EARLY_MS : LATER_MS));
  child.kill('SIGKILL');
  return ended;
}

/**
 * Rounds of other events each, until the command was killed often enough.
 * @param {(round: number) => Promise<{ into: string, read: () => Promise<Map<string, object[]>> }>} newReplica
 */
async function killAgainAndAgain(expect, name, newReplica) {
  const random = makeRandom(seed);
  let kills = 0;
  let midway = 0;
  // Until it was killed in the middle, too: a test that never does shows nothing.
  const isEnough = () => kills >= KILLS && midway > 0;
  for (let round = 0; !isEnough(); round += 1) {
    const { server, address, truth, release } = await startShop(round);
    const { into, read } = await newReplica(round);
    for (let isThrough = false; !isThrough; ) {
      const batchRows = 1 + Math.floor(random() ** 3 * 200);
      const batchSize = 1 + Math.floor(random() * 30);
      const args = [address, '--into', into, '--start-at', '1', '--max-time-ms', '20', '--retry-delay', '20'];
      args.push('--batch-rows', String(batchRows), '--batch-size', String(batchSize));
      const isLast = isEnough();
      if (isLast || random() < 0.4) release();
      // A run that is not killed in time ends the round, but only where all events are there.
      const run = startCommand([...args, '--until-caught-up', '0.1']);
      const { code, stdout, stderr } = await (isLast ? run.ended : killAtRandom(run, server, random));
      if (code === null) {
        kills += 1;
        continue;
      }
      expect(code, stderr).toBe(0);
      const count = Number(/^Read: (\d+)/.exec(stdout)[1]);
      if (count > 0 && count < 2 * DOCUMENTS + EVENTS / 2) midway += 1;
      isThrough = server.events.length === EVENTS;
      release();
    }
    await server.stop();
    const replica = await read();
    expectSame(replica, truth);
  }
  console.log(
    `crash test of the live source, ${name}: killed ${kills} times; ${midway} runs ended what a killed one began`,
  );
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}

// Each waits for its processes most of the time.
describe.concurrent('killed at any moment, nothing is lost and nothing is there twice', () => {
  test(`SQLite, ${KILLS} kills`, { timeout: 180_000 }, async ({ expect }) => {
    await killAgainAndAgain(expect, 'sqlite', async (round) => {
      const into = join(folder, `${round}.sqlite`);
      return { into, read: async () => readReplica(into) };
    });
  });

  test.skipIf(postgres === null)(
    `PostgreSQL, ${KILLS} kills ${missing}`,
    { timeout: 180_000 },
    async ({ expect }) => {
      await killAgainAndAgain(expect, 'postgresql', async () => {
        const into = await postgres.newDatabase();
        return { into, read: () => readPostgres(postgres, into) };
      });
    },
  );
});
