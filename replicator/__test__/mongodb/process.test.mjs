// A run that follows its source, as the process that a user starts and ends.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { serialize } from 'bson';
import { expect, test, vi } from 'vitest';
import { put, remove } from '../support/captures.mjs';
import { startReplay } from '../support/live.mjs';
import { makeFolder, readReplica, sortRows } from '../support/replica.mjs';

const folder = makeFolder();
const COMMAND = new URL('../../bin/bsonrow-replicate.mjs', import.meta.url).pathname;
const documents = [1, 2, 3].map((_id) => Buffer.from(serialize({ _id })));

function start(...args) {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].on('data', (text) => (output[name] += text));
  const ended = new Promise((resolve) => child.once('close', (code) => resolve({ code, ...output })));
  return { child, ended };
}

test('it follows until Ctrl-C, then stores what it has read: exit code 130', async () => {
  const { server, uri } = await startReplay({ collections: { 'shop.items': documents } });
  const file = join(folder, 'follow.sqlite');
  const { child, ended } = start(`${uri}/shop`, '--into', file, '--max-time-ms', '100');
  await vi.waitFor(() => expect(server.received('getMore').length).toBeGreaterThan(3), { timeout: 10_000 });
  server.addEvents(put({ _id: 4 }), put({ _id: 5 }));
  const seen = server.received('getMore').length;
  await vi.waitFor(() => expect(server.received('getMore').length).toBeGreaterThan(seen + 1), {
    timeout: 5000,
  });
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  expect(stderr).toBe('');
  expect(code).toBe(130);
  expect(stdout).toContain('Read: 5 documents');
  expect(readReplica(file).get('shop.items')).toHaveLength(5);
  expect(server.openCursors).toBe(0);
});

test('Ctrl-C while it looks for a server that is not there', async () => {
  const { child, ended } = start('mongodb://127.0.0.1:1/shop', '--into', join(folder, 'none.sqlite'));
  const waiting = setTimeout(() => child.kill('SIGINT'), 2000);
  const { code } = await ended;
  clearTimeout(waiting);
  expect(code).toBe(130);
});

test('killed at any moment, in the snapshot or the stream, it goes on and loses nothing', async () => {
  const count = 4000;
  const { server, uri } = await startReplay({
    collections: {
      'shop.items': Array.from({ length: count }, (_, _id) => Buffer.from(serialize({ _id, n: 'first' }))),
    },
  });
  const expected = new Map(Array.from({ length: count }, (_, n) => [n, { _id: BigInt(n), n: 'first' }]));
  const file = join(folder, 'killed.sqlite');
  const args = [
    `${uri}/shop`,
    '--into',
    file,
    '--batch-size',
    '20',
    '--batch-rows',
    '30',
    '--max-time-ms',
    '50',
  ];
  const kill = async (milliseconds) => {
    const { child, ended } = start(...args);
    const killing = setTimeout(() => child.kill('SIGKILL'), milliseconds);
    await ended;
    clearTimeout(killing);
  };
  for (let n = 0; n < 6; n += 1) await kill(350 + n * 37);
  // The snapshot may be under way still: the stream has its beginning before it.
  for (let n = 0; n < count; n += 1) {
    const _id = (n * 7) % (count + 500);
    if (n % 5 === 0) {
      server.addEvents(remove(_id));
      expected.delete(_id);
    } else {
      server.addEvents(put({ _id, n: `event ${n}` }));
      expected.set(_id, { _id: BigInt(_id), n: `event ${n}` });
    }
  }
  for (let n = 0; n < 6; n += 1) await kill(350 + n * 41);
  const { code } = await start(...args, '--until-caught-up', '0.3').ended;
  expect(code).toBe(0);
  expect(sortRows(readReplica(file).get('shop.items'))).toEqual(sortRows(expected.values()));
});
