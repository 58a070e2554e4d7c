// The connection to PostgreSQL is lost in all manner of ways; nothing is lost or there twice over it.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { event, put, writeBson } from './support/captures.mjs';
import { CuttingProxy } from './support/cutting-proxy.mjs';
import { finalState, parse } from './support/expected.mjs';
import { makeMixedEvents } from './support/mixed-events.mjs';
import { readPostgres, replicateInto, startPostgres } from './support/postgres.mjs';
import { expectSame, makeFolder } from './support/replica.mjs';

const { server, missing } = await startPostgres();
const folder = makeFolder();

const events = makeMixedEvents(7, 2500);
const expected = finalState(events.map(parse));
const file = writeBson(folder, 'mixed.bson', events);
const manyBatches = ['--batch-rows', 3, '--retries', 8];

async function expectWhole(address) {
  const replica = await readPostgres(server, address);
  expectSame(replica, expected);
}

/** Until the first changes are stored. */
async function untilUnderWay(address) {
  const count = () =>
    server.query(address, 'SELECT count(*) FROM _bsonrow_progress').then(
      ([[rows]]) => Number(rows),
      () => 0,
    );
  while ((await count()) === 0) await sleep(10);
}

describe.skipIf(server === null)(`PostgreSQL ${missing}`, () => {
  test('its session is ended, many times', async () => {
    const address = await server.newDatabase();
    const run = replicateInto(address, file, ...manyBatches);
    let isOver = false;
    let ended = 0;
    run.finally(() => {
      isOver = true;
    });
    await untilUnderWay(address);
    while (!isOver) {
      const sql =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bsonrow-replicate'";
      ended += (await server.query(address, sql)).length;
      await sleep(60);
    }
    const { code, stderr } = await run;
    expect(stderr).toMatch(
      /warning: the connection to PostgreSQL is lost: terminating connection due to admin/,
    );
    expect(code).toBe(0);
    expect(ended).toBeGreaterThan(2);
    await expectWhole(address);
  });

  test.each(['fast', 'immediate'])('the server is restarted (%s)', async (mode) => {
    const address = await server.newDatabase();
    const run = replicateInto(address, file, ...manyBatches);
    await untilUnderWay(address);
    await server.stop(mode);
    await sleep(100);
    await server.start();
    const { code, stderr } = await run;
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: the connection to PostgreSQL is lost/);
    await expectWhole(address);
  });

  test('the server stays away: reported after all attempts, and another run goes on', async () => {
    const address = await server.newDatabase();
    const run = replicateInto(address, file, '--batch-rows', 3, '--retries', 3);
    await untilUnderWay(address);
    await server.stop('immediate');
    const { code, stderr } = await run;
    await server.start();
    expect(code).toBe(3);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-1)).toMatch(
      /^bsonrow-replicate: the connection to PostgreSQL is lost: .*; tried again 3 times$/,
    );
    expect(lines.filter((line) => line.includes('is lost'))).toHaveLength(4);
    const again = await replicateInto(address, file);
    expect(again.code).toBe(0);
    expect(Number(/Already applied by an earlier run: (\d+)/.exec(again.stdout)[1])).toBeGreaterThan(0);
    await expectWhole(address);
  });

  test('a server that is not there yet when the run begins', async () => {
    const address = await server.newDatabase();
    await server.stop();
    const run = replicateInto(address, file);
    await sleep(200);
    await server.start();
    const { code, stderr } = await run;
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /warning: PostgreSQL cannot be reached: .*; trying again in \d+\.\d s \(1 of 10\)\n/,
    );
    await expectWhole(address);
  });

  /** Three events, which end otherwise where they are applied twice: the second document would be renamed along. */
  const renaming = (number) => {
    const [draft, final] = ['draft', 'final'].map((name) => ({ db: 'shop', coll: `${name}${number}` }));
    return [
      put({ _id: 1 }, { ns: draft }),
      event('rename', { ns: draft, to: final }),
      put({ _id: 2 }, { ns: draft }),
    ];
  };

  test.each([
    ['before', () => 'before'],
    ['after', () => 'after'],
    ['now before, now after', (n) => (n % 2 === 0 ? 'before' : 'after')],
  ])('the connection is cut at a commit: %s the server has it', async (name, action) => {
    const address = await server.newDatabase();
    const socket = `${new URL(address.replace('@/', '@x/')).searchParams.get('host')}/.s.PGSQL.5432`;
    const proxy = new CuttingProxy(socket, (commit) => (commit % 5 === 3 ? action(commit) : null));
    const through = `${address.split('?')[0]}?host=${encodeURIComponent(await proxy.listen())}&port=5432`;
    const groups = Array.from({ length: 40 }, (_, number) => renaming(number)).flat();
    try {
      const capture = writeBson(folder, `${name}.bson`, groups);
      const { code } = await replicateInto(through, capture, '--batch-rows', 3);
      expect(code).toBe(0);
      expect(proxy.cuts).toBeGreaterThan(5);
    } finally {
      await proxy.close();
    }
    const replica = await readPostgres(server, address);
    const state = finalState(groups.map(parse));
    expect([...replica.keys()]).toEqual([...state.keys()].sort());
    for (const [namespace, rows] of replica)
      expect(rows, namespace).toEqual([...state.get(namespace).values()]);
  });

  describe('a connection on which nothing comes any more', () => {
    const change = (number) => ({
      kind: 'put',
      operation: 'insert',
      namespace: 'a.b',
      key: Buffer.of(number),
      row: { n: BigInt(number) },
    });

    /** A sink behind a proxy. */
    async function withProxy(plan, work, retry = { retries: 5, retryDelay: 20 }) {
      const address = await server.newDatabase();
      const socket = `${new URL(address.replace('@/', '@x/')).searchParams.get('host')}/.s.PGSQL.5432`;
      const proxy = new CuttingProxy(socket, plan);
      const through = `${address.split('?')[0]}?host=${encodeURIComponent(await proxy.listen())}&port=5432`;
      const { PostgresSink } = await import('../lib/sink/postgres/postgres.mjs');
      const warnings = [];
      const onWarning = (message) => warnings.push(message);
      const sink = await PostgresSink.open(through, { onWarning, retry, silenceMs: 200 });
      try {
        await work({ sink, proxy, address, warnings });
      } finally {
        await sink.close();
        await proxy.close();
      }
    }
    const stored = async (address) => (await readPostgres(server, address)).get('a.b').map(({ n }) => n);

    test.each(['silence before', 'silence after'])('%s the server has a commit', async (action) => {
      let commits = 0;
      const plan = (commit) => {
        commits = commit;
        return commit === 2 ? action : null;
      };
      await withProxy(plan, async ({ sink, proxy, address, warnings }) => {
        for (const number of [1, 2, 3])
          await sink.apply([change(number)], { source: 's', position: `${number}` });
        expect(proxy.silenced).toBe(1);
        expect(commits).toBe(action === 'silence before' ? 4 : 3);
        expect(await stored(address)).toEqual([1n, 2n, 3n]);
        expect(warnings[0]).toMatch(
          /^the connection to PostgreSQL is lost: no answer for 0\.2 s, and the server is not at work on one; trying/,
        );
      });
    });

    test('of a host that answers nobody: given up after all attempts', async () => {
      const retry = { retries: 2, retryDelay: 20 };
      const work = async ({ sink, proxy, warnings }) => {
        proxy.isSilent = true;
        await expect(sink.apply([change(1)], { source: 's', position: '1' })).rejects.toThrow(
          /is lost: timeout expired; tried again 2 times/,
        );
        expect(warnings).toHaveLength(2);
        expect(warnings[0]).toContain('no answer for 0.2 s');
      };
      await withProxy(() => null, work, retry);
    });

    test('of a server that is at work for long: waited for', async () => {
      await withProxy(
        () => null,
        async ({ sink, address, warnings }) => {
          await sink.apply([change(1)], null);
          await server.query(
            address,
            `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN PERFORM pg_sleep(1.5); RETURN NEW; END $$;
             CREATE TRIGGER slow BEFORE INSERT ON "a.b" FOR EACH ROW EXECUTE FUNCTION slow()`,
          );
          await sink.apply([change(2)], { source: 's', position: '2' });
          expect(warnings).toEqual([]);
          expect(await stored(address)).toEqual([1n, 2n]);
        },
      );
    });
  });

  test('a server that has lost what it had confirmed is not written to', async () => {
    const address = await server.newDatabase();
    const { PostgresSink } = await import('../lib/sink/postgres/postgres.mjs');
    const retry = { retries: 5, retryDelay: 20 };
    const sink = await PostgresSink.open(address, { onWarning() {}, retry });
    try {
      const change = {
        kind: 'put',
        operation: 'insert',
        namespace: 'a.b',
        key: Buffer.of(1),
        row: { n: 1n },
      };
      await sink.apply([change], { source: 's', position: '1' });
      await server.query(address, "UPDATE _bsonrow_progress SET position = '0', batch = 'older'");
      await server.query(
        address,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bsonrow-replicate'",
      );
      await expect(sink.apply([change], { source: 's', position: '2' })).rejects.toThrow(
        /has lost what it had/,
      );
    } finally {
      await sink.close();
    }
  });
});
