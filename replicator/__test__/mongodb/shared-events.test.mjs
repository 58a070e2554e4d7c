// The change events of the shared data, served as a stream: the rows of a capture and of the stream must be equal.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { EJSON, serialize } from 'bson';
import * as driver from 'mongodb';
import { describe, expect, test } from 'vitest';
import { expectedRow, finalState, parse, splitDocuments } from '../support/expected.mjs';
import { replicateLive, startReplay } from '../support/live.mjs';
import { DATA, makeFolder, readReplica, sortRows } from '../support/replica.mjs';

const folder = makeFolder();
const streams = join(DATA, 'events/streams');
const hasData = existsSync(streams);
const namesOfStreams = hasData ? readdirSync(streams).filter((name) => name.endsWith('.bson.gz')) : [];

async function replicateEvents(events, file, ...more) {
  const { uri } = await startReplay({ events });
  const collections = ['--collection', 'shop.*', '--collection', 'any.*', ...more];
  return await replicateLive(
    driver,
    uri,
    '--into',
    file,
    '--snapshot',
    'never',
    '--start-at',
    '1',
    ...collections,
  );
}

describe.skipIf(!hasData)('shared data', () => {
  test.each(namesOfStreams)('%s', async (name) => {
    const events = splitDocuments(gunzipSync(readFileSync(join(streams, name)))).map(({ bytes }) => bytes);
    const expected = finalState(events.map(parse));
    const databases = [...new Set([...expected.keys()].map((namespace) => namespace.split('.')[0]))];
    for (const size of [1000, 7]) {
      const file = join(folder, `${name}-${size}.sqlite`);
      const more = databases.flatMap((database) => ['--collection', `${database}.*`]);
      const { code } = await replicateEvents(events, file, '--batch-size', size, ...more);
      expect(code).toBe(0);
      const replica = readReplica(file);
      for (const [namespace, rows] of expected) {
        expect(sortRows(replica.get(namespace) ?? [])).toEqual(sortRows(rows.values()));
      }
    }
  });

  test('a split event', async () => {
    const text = readFileSync(join(DATA, 'events/a/split_event_fragments.json'), 'utf8');
    const fragments = EJSON.parse(text, { relaxed: false });
    const events = fragments.map((fragment) => Buffer.from(serialize(fragment)));
    const { fullDocument } = Object.assign({}, ...events.map(parse));
    const [{ ns }] = fragments.filter((fragment) => fragment.ns !== undefined);
    const file = join(folder, 'split.sqlite');
    const { code, stderr } = await replicateEvents(events, file, '--collection', `${ns.db}.*`);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(readReplica(file).get(`${ns.db}.${ns.coll}`)).toEqual([expectedRow(fullDocument)]);
  });
});
