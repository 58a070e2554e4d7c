// Which files are meant, and what namespace their documents have.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { serialize } from 'bson';
import { expect, test } from 'vitest';
import { UsageError } from '../lib/errors.mjs';
import { makeSelection } from '../lib/namespace.mjs';
import { detectFormat } from '../lib/source/detect.mjs';
import { findInputs } from '../lib/source/files.mjs';
import { event } from './support/captures.mjs';
import { makeFolder } from './support/replica.mjs';

const folder = makeFolder();

function write(path, content = '') {
  const file = join(folder, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
}

test('a dump: databases are folders, collections files, in the order of their names', async () => {
  write('dump/shop/orders.bson');
  write('dump/shop/orders.metadata.json', '{"collectionName":"orders"}');
  write('dump/shop/a.b%2Fc.bson.gz');
  write('dump/shop/50%.bson');
  write('dump/blog/short_1a2b.bson', 'xyz');
  write('dump/blog/short_1a2b.metadata.json.gz', gzipSync('{"collectionName":"a long name"}'));
  write('dump/blog/broken.bson');
  write('dump/blog/broken.metadata.json', '{');
  write('dump/oplog.bson');
  write('dump/shop/system.indexes.bson');
  write('dump/prelude.json');
  const warnings = [];
  const inputs = await findInputs([join(folder, 'dump')], (message) => warnings.push(message));
  expect(inputs.map(({ namespace, size }) => [namespace, size])).toEqual([
    ['blog.broken', 0],
    ['blog.a long name', 3],
    ['shop.50%', 0],
    ['shop.a.b/c', 0],
    ['shop.orders', 0],
  ]);
  expect(warnings).toEqual([
    `${join(folder, 'dump/oplog.bson')}: left out, oplog entries are not replicated`,
    `${join(folder, 'dump/shop/system.indexes.bson')}: left out, definitions of indexes are not replicated`,
  ]);
});

test('files are read whatever their names, in the order they are named', async () => {
  write('x/capture.dat');
  write('x/b.bson');
  const inputs = await findInputs([join(folder, 'x/capture.dat'), join(folder, 'x/b.bson')], () => {});
  expect(inputs.map(({ namespace }) => namespace)).toEqual(['x.capture.dat', 'x.b']);
});

test('a folder without documents, and a path that is not there', async () => {
  write('none/readme.txt');
  await expect(findInputs([join(folder, 'none')], () => {})).rejects.toThrow(UsageError);
  await expect(findInputs([join(folder, 'absent')], () => {})).rejects.toThrow(
    /absent: there is no such file/,
  );
});

test.each([
  ['a change event', event('insert', { fullDocument: { _id: 1 } }), 'events'],
  ['an event without namespace', event('invalidate', { ns: undefined }), 'events'],
  ['an event without token', event('insert', { _id: 1 }), 'events'],
  ['a document', serialize({ _id: 1, a: 2 }), 'documents'],
  [
    'a document with a column of that name',
    serialize({ _id: 1, operationType: 'insert', ns: 'a.b' }),
    'documents',
  ],
  [
    'a document whose operationType is no string',
    serialize({ _id: { _data: '8' }, operationType: 1 }),
    'documents',
  ],
  ['a document without anything', serialize({}), 'documents'],
  ['damage', Buffer.from('0800000002610000', 'hex'), 'documents'],
])('%s', (_name, bytes, format) => {
  expect(detectFormat(Buffer.from(bytes))).toBe(format);
});

test('a selection of collections', () => {
  const isSelected = makeSelection(['shop.orders', 'blog.*', 'shop.a.b']);
  expect(['shop.orders', 'blog.x', 'blog.y.z', 'shop.a.b'].every(isSelected)).toBe(true);
  expect(['shop.Orders', 'shop.a', 'blogs.x', 'orders.shop'].some(isSelected)).toBe(false);
  expect(makeSelection([])('any.thing')).toBe(true);
  for (const bad of ['orders', '.x', 'x.']) expect(() => makeSelection([bad])).toThrow(UsageError);
});
