// A run that follows its source, as the process that a user starts and ends.
import { join } from 'node:path';
import { serialize } from 'bson';
import { expect, test, vi } from 'vitest';
import { put } from '../support/captures.mjs';
import { startCommand } from '../support/command.mjs';
import { startReplay } from '../support/live.mjs';
import { makeFolder, readReplica } from '../support/replica.mjs';

const folder = makeFolder();
const documents = [1, 2, 3].map((_id) => Buffer.from(serialize({ _id })));

test('it follows until Ctrl-C, then stores what it has read: exit code 130', async () => {
  const { server, uri } = await startReplay({ collections: { 'shop.items': documents } });
  const file = join(folder, 'follow.sqlite');
  const { child, ended } = startCommand([`${uri}/shop`, '--into', file, '--max-time-ms', '100']);
  await vi.waitFor(() => expect(server.received('getMore').length).toBeGreaterThan(3), { timeout: 10_000 });
  server.addEvents(put({ _id: 4 }), put({ _id: 5 }));
  const seen = server.received('getMore').length;
  await vi.waitFor(() => expect(server.received('getMore').length).toBeGreaterThan(seen + 1), {
    timeout: 5000,
  });
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  expect(stderr).toBe('bsonrow-replicate: interrupted\n');
  expect(code).toBe(130);
  expect(stdout).toContain('Read: 5 documents');
  expect(readReplica(file).get('shop.items')).toHaveLength(5);
  expect(server.openCursors).toBe(0);
});

test('Ctrl-C while it looks for a server that is not there', async () => {
  const { child, ended } = startCommand([
    'mongodb://127.0.0.1:1/shop',
    '--into',
    join(folder, 'none.sqlite'),
  ]);
  const waiting = setTimeout(() => child.kill('SIGINT'), 2000);
  const { code } = await ended;
  clearTimeout(waiting);
  expect(code).toBe(130);
});
