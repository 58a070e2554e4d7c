// A live source with several processes: the same tables, also where the run is killed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize, serialize } from 'bson';
import { describe, expect, test } from 'vitest';
import { seed } from '../../../__test__/support/random.mjs';
import { startCommand } from '../support/command.mjs';
import { finalState, parse } from '../support/expected.mjs';
import { DRIVERS, replicateLive, startReplay } from '../support/live.mjs';
import { makeMixedEvents, makeRandom } from '../support/mixed-events.mjs';
import { readPostgres, startPostgres } from '../support/postgres.mjs';
import { expectSame, makeFolder, readReplica } from '../support/replica.mjs';
import { childrenOf, progressOf } from '../support/workers.mjs';

const KILLS = 30;
const DOCUMENTS = 300;
const EVENTS = 1200;

const { server: postgres, missing } = await startPostgres();
const folder = makeFolder();

const COLLECTIONS = ['items', 'orders', 'log'];

/** Tokens as a server makes them, which are in the order of the events, or others. */
const TOKENS = {
  ordered: (number) => `8265${number.toString(16).toUpperCase().padStart(20, '0')}`,
  others: (number) => `token ${number}`,
};

const eventsWith = (tokenOf, round) =>
  makeMixedEvents(seed + round, EVENTS).map((event, number) =>
    Buffer.from(
      serialize({ ...deserialize(event, { promoteValues: false }), _id: { _data: tokenOf(number + 1) } }),
    ),
  );

const documentsOf = (coll) =>
  Array.from({ length: DOCUMENTS }, (_, n) => Buffer.from(serialize({ _id: `key ${n}`, from: coll })));

function makeShop(tokenOf, round) {
  const collections = Object.fromEntries(COLLECTIONS.map((coll) => [`shop.${coll}`, documentsOf(coll)]));
  const events = eventsWith(tokenOf, round);
  const inserts = COLLECTIONS.flatMap((coll) =>
    collections[`shop.${coll}`].map((document) => ({
      operationType: 'insert',
      ns: { db: 'shop', coll },
      fullDocument: parse(document),
    })),
  );
  return { collections, events, truth: finalState([...inserts, ...events.map(parse)]) };
}

describe.each(DRIVERS)('%s', (_name, driver) => {
  test.each([
    ['2', 'messagepack'],
    ['3', 'messagepack'],
    ['3', 'json'],
  ])('a snapshot, then the stream, with %s workers and %s', { timeout: 60_000 }, async (workers, format) => {
    const { collections, events, truth } = makeShop(TOKENS.ordered, 0);
    const { uri } = await startReplay({ collections, events });
    const file = join(folder, `${_name}-${workers}-${format}.sqlite`);
    const args = [
      `${uri}/shop`,
      '--into',
      file,
      '--start-at',
      '1',
      '--batch-size',
      '50',
      '--batch-rows',
      '120',
    ];
    const run = () => replicateLive(driver, ...args, '--workers', workers, '--messages', format);
    const { code, stdout, stderr } = await run();
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`Read: ${COLLECTIONS.length * DOCUMENTS + EVENTS} documents`);
    expectSame(readReplica(file), truth);
    const progress = progressOf(file);
    expect(progress).toHaveLength(1);
    expect((await run()).stdout).toContain('Read: 0 documents');
    expect(progressOf(file)).toEqual(progress);
  });

  test('documents and events that cannot be converted are told of as by one process', {
    timeout: 60_000,
  }, async () => {
    const damaged = Buffer.from(serialize({ _id: 5, text: 'x' }));
    damaged.writeInt32LE(100, damaged.indexOf('x\0', 15) - 4);
    const good = Buffer.from(serialize({ _id: 6, text: 'x' }));
    const event = (token, fields) =>
      Buffer.from(
        serialize({ _id: { _data: TOKENS.ordered(token) }, ns: { db: 'shop', coll: 'log' }, ...fields }),
      );
    const fromDamaged = event(1, {
      operationType: 'insert',
      documentKey: { _id: 7 },
      fullDocument: { _id: 7, text: 'x' },
    });
    fromDamaged.writeInt32LE(100, fromDamaged.lastIndexOf('x\0') - 4);
    const events = [
      fromDamaged,
      event(2, { operationType: 'insert' }),
      event(3, { operationType: 'delete', documentKey: { _id: 9 } }),
    ];
    const accounts = [];
    for (const workers of ['1', '3']) {
      const { uri } = await startReplay({ collections: { 'shop.log': [damaged, good] }, events });
      const file = join(folder, `${_name}-damaged-${workers}.sqlite`);
      const args = [
        `${uri}/shop`,
        '--into',
        file,
        '--start-at',
        '1',
        '--on-error',
        'skip',
        '--workers',
        workers,
      ];
      const { code, stdout } = await replicateLive(driver, ...args);
      expect(code).toBe(0);
      expect(readReplica(file)).toEqual(new Map([['shop.log', [{ _id: 6n, text: 'x' }]]]));
      const log = readFileSync(`${file}.skipped.jsonl`, 'utf8').replaceAll(/"time":"[^"]*"/g, '"time":""');
      const account = stdout.replace(/^.*MiB of BSON.*\nConverter.*\n/m, '');
      accounts.push(`${account}${log}`.replaceAll(/127\.0\.0\.1:\d+/g, 'host'));
    }
    expect(accounts[0]).toContain('3 × document that cannot be converted, skipped');
    expect(accounts[1]).toBe(accounts[0]);
  });
});

async function killAtRandom({ child, ended }, server, random) {
  const commands = server.commands.length + 1 + Math.floor(random() * 40);
  let isOver = false;
  ended.then(() => {
    isOver = true;
  });
  while (server.commands.length < commands && !isOver) await sleep(1);
  await sleep(random() * 10);
  const appliers = childrenOf(child.pid);
  const pid =
    random() < 0.5 || appliers.length === 0 ? child.pid : appliers[Math.floor(random() * appliers.length)];
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was through already.
  }
  return ended;
}

async function killAgainAndAgain(name, tokenOf, newReplica) {
  const random = makeRandom(seed);
  let kills = 0;
  let midway = 0;
  // Until it was killed in the middle, too: a test that never does shows nothing.
  const isEnough = () => kills >= KILLS && midway > 0;
  for (let round = 0; !isEnough(); round += 1) {
    const { collections, events, truth } = makeShop(tokenOf, round);
    const { server, uri } = await startReplay({ collections, events: events.slice(0, EVENTS / 2) });
    let isReleased = false;
    const { into, read } = await newReplica(round);
    for (let isThrough = false; !isThrough; ) {
      const args = [
        `${uri}/shop`,
        '--into',
        into,
        '--start-at',
        '1',
        '--max-time-ms',
        '30',
        '--retry-delay',
        '20',
      ];
      args.push('--batch-rows', String(1 + Math.floor(random() ** 3 * 200)), '--workers', '3');
      args.push('--batch-size', String(1 + Math.floor(random() * 30)), '--until-caught-up', '0.2');
      const isLast = isEnough();
      if (!isReleased && (isLast || random() < 0.4)) {
        server.addEvents(...events.slice(EVENTS / 2));
        isReleased = true;
      }
      const run = startCommand(args);
      const { code, stdout, stderr } = await (isLast ? run.ended : killAtRandom(run, server, random));
      if (code === null || (code === 1 && /was ended by SIGKILL/.test(stderr))) {
        kills += 1;
        continue;
      }
      expect(code, stderr).toBe(0);
      const count = Number(/^Read: (\d+)/.exec(stdout)[1]);
      if (count > 0 && count < COLLECTIONS.length * DOCUMENTS + EVENTS / 2) midway += 1;
      isThrough = isReleased;
    }
    expectSame(await read(), truth);
  }
  console.log(
    `live source, several processes, ${name}: killed ${kills} times; ${midway} runs ended what a killed one began`,
  );
  expect(kills).toBeGreaterThanOrEqual(KILLS);
}

describe.skipIf(process.platform !== 'linux').each(Object.entries(TOKENS))(
  'killed at any moment, tokens: %s',
  (name, tokenOf) => {
    test(`SQLite, ${KILLS} kills`, { timeout: 240_000 }, async () => {
      await killAgainAndAgain(`SQLite, ${name}`, tokenOf, async (round) => {
        const into = join(folder, `${name}-${round}.sqlite`);
        return { into, read: async () => readReplica(into) };
      });
    });

    test.skipIf(postgres === null || name !== 'ordered')(
      `PostgreSQL, ${KILLS} kills ${missing}`,
      { timeout: 240_000 },
      async () => {
        await killAgainAndAgain(`PostgreSQL, ${name}`, tokenOf, async () => {
          const into = await postgres.newDatabase();
          return { into, read: () => readPostgres(postgres, into) };
        });
      },
    );
  },
);
