// The command as a user starts it: a process, its messages, its exit codes.
import { execFile, execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { serialize } from 'bson';
import Database from 'libsql';
import { describe, expect, test } from 'vitest';
import { splitDocuments } from './support/expected.mjs';
import { makeFolder, query, readReplica, SAMPLE } from './support/replica.mjs';

const folder = makeFolder();
const COMMAND = new URL('../bin/bsonrow-replicate.mjs', import.meta.url).pathname;

function run(...args) {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args.map(String)], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

const documentsFile = (name, documents) => {
  const file = join(folder, name);
  writeFileSync(file, Buffer.concat(documents.map((document) => Buffer.from(serialize(document)))));
  return file;
};

test('--help and --version', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url)));
  expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  const help = await run('--help');
  expect(help.code).toBe(0);
  const options = [
    '--into',
    '--format',
    '--namespace',
    '--collection',
    '--dates',
    '--limit',
    '--batch-rows',
    '--batch-bytes',
    '--batch-seconds',
    '--retries',
    '--retry-delay',
    '--skip-log',
    '--on-error',
  ];
  for (const option of [...options, '--fresh', '--dry-run', '--show', '--quiet'])
    expect(help.stdout).toContain(option);
});

test.each([
  [[], /missing required argument 'path'/],
  [['x', '--unknown'], /unknown option '--unknown'/],
  [['x', '--limit', '0'], /It must be a whole number above 0/],
  [['x', '--batch-rows', '1.5'], /It must be a whole number above 0/],
  [['x', '--format', 'xml'], /Allowed choices are auto, events, documents/],
  [['x', '--dates', 'local'], /Allowed choices are legacy, iso, iso-seconds/],
  [[SAMPLE, '--retries', '-1'], /It must be a whole number\./],
  [[SAMPLE, '--follow'], /--follow is for a live source \(mongodb:\/\/…\) only/],
  [[SAMPLE, '--max-time-ms', '9'], /--max-time-ms is for a live source/],
  [['mongodb://h/shop', '--format', 'events'], /--format is for files only/],
  [['mysql://h/shop'], /files are read, or mongodb:\/\/…, not mysql:\/\/…/],
  [[SAMPLE, '--into', 'mysql://h/shop'], /--into takes an SQLite file or postgres:\/\/…, not mysql:\/\/…/],
  [[SAMPLE, '--into', 'postgres://u:secret@h:port/shop'], /PostgreSQL database is not valid: (?!.*secret)/],
  [
    [SAMPLE, '--into', 'postgres://u:secret@h/shop?sslmode=verify-full&sslrootcert=none.pem'],
    /names a file that cannot be read: (?!.*secret).*none\.pem/,
  ],
  [[''], /a path is empty/],
  [[SAMPLE, '--into', ''], /--into is empty/],
  [[SAMPLE, '--into', ':memory:'], /--into takes a file: one in memory ends with the run/],
  [[SAMPLE, '--into', 'file:x.sqlite'], /--into takes the path of a file, not file:x\.sqlite/],
  [[SAMPLE, '--skip-log', 'skipped.jsonl'], /--skip-log is for --on-error skip only/],
  [[SAMPLE, '--namespace', 'orders'], /"orders" is not a namespace/],
  [[SAMPLE, '--collection', 'orders'], /"orders" is not a namespace/],
])('wrong usage %j: exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
});

test('a collection to replicate of which there is nothing is among the warnings', async () => {
  const into = ['--into', 'missed.sqlite'];
  const selection = ['shop.orders', 'shop.carts', 'shop.*', 'shop.ordrs', '*.*'].flatMap((name) => [
    '-c',
    name,
  ]);
  const { code, stdout } = await run(SAMPLE, ...into, ...selection);
  expect(code).toBe(0);
  expect(stdout).toContain('  2 × collection to replicate of which there was nothing; first: shop.ordrs\n');
  // Where not all is read, nothing can be said.
  for (const more of [[], ['--limit', 5, '--fresh']]) {
    expect((await run(SAMPLE, ...into, ...selection, ...more)).stdout).not.toContain('there was nothing');
  }
});

describe('--fresh drops nothing before there is something to take its place', () => {
  const into = ['--into', 'kept.sqlite'];

  test.each([
    ['no BSON', Buffer.alloc(100), 1, /is this a file of BSON\?\n$/, ''],
    [
      'empty',
      Buffer.alloc(0),
      0,
      /^$/,
      '  1 × run with --fresh that read nothing, and so dropped nothing; first: input.bson\n',
    ],
  ])('a file that is %s', async (_what, bytes, code, message, warning) => {
    await run(SAMPLE, ...into);
    const before = readReplica(join(folder, 'kept.sqlite'));
    expect(before.size).toBeGreaterThan(1);
    writeFileSync(join(folder, 'input.bson'), bytes);
    const ended = await run('input.bson', '-n', 'a.b', ...into, '--fresh');
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(message);
    expect(ended.stdout).toContain(warning);
    expect(readReplica(join(folder, 'kept.sqlite'))).toEqual(before);
  });
});

test('by default the rows go to replica.sqlite, and the namespace comes from the path', async () => {
  const file = documentsFile('things.bson', [{ _id: 1 }, { _id: 2 }]);
  const { code, stdout } = await run(file);
  expect(code).toBe(0);
  expect(stdout).toContain('Read: 2 documents (2 document)');
  const [[namespace]] = query(join(folder, 'replica.sqlite'), 'SELECT namespace FROM _bsonrow_tables');
  expect(namespace).toMatch(/^bsonrow-replicator-\w+\.things$/);
});

describe('damage', () => {
  const documents = splitDocuments(gunzipSync(readFileSync(SAMPLE)));

  test('stops with file, byte and reason; what was before it is kept', async () => {
    const bytes = Buffer.concat(documents.slice(0, 100).map((document) => document.bytes));
    bytes.writeInt32LE(3, documents[80].offset);
    writeFileSync(join(folder, 'damaged.bson'), bytes);
    const { code, stdout, stderr } = await run(
      'damaged.bson',
      '--into',
      'damaged.sqlite',
      '--batch-rows',
      30,
    );
    expect(code).toBe(1);
    expect(stderr).toBe(
      `bsonrow-replicate: damaged.bson: byte ${documents[80].offset}: Invalid BSON document length 3\n`,
    );
    expect(stdout).toContain('Read: 80 documents');
    expect(readReplica(join(folder, 'damaged.sqlite')).get('shop.customers')).toHaveLength(60);
    expect(readReplica(join(folder, 'damaged.sqlite')).get('shop.products')).toHaveLength(18);
  });

  test('within a document: the byte is that of the file', async () => {
    const good = Buffer.from(serialize({ _id: 1, text: 'abc' }));
    const bad = Buffer.from(serialize({ _id: 2, text: 'abc' }));
    const lengthAt = bad.indexOf('text') + 5;
    bad.writeInt32LE(1000, lengthAt);
    writeFileSync(join(folder, 'inside.bson'), Buffer.concat([good, bad]));
    const { code, stderr } = await run('inside.bson', '--into', 'inside.sqlite', '-n', 'a.b');
    expect(code).toBe(1);
    const [, place, reason] = /inside\.bson: byte (\d+): (.*)\n/.exec(stderr);
    expect(reason).toContain('Invalid BSON string length');
    expect(reason).toContain('text');
    expect(Number(place)).toBe(good.length + lengthAt);
    expect(readReplica(join(folder, 'inside.sqlite')).get('a.b')).toHaveLength(1);
  });

  test('nothing in it steers the terminal', async () => {
    const hostile = '\u001b[2J';
    const events = [hostile, 'insert'].map((operationType, index) =>
      Buffer.from(
        serialize({
          _id: { _data: `${index}` },
          operationType,
          ns: { db: 'a', coll: hostile },
          [hostile]: 'abc',
        }),
      ),
    );
    const lengthAt = events[1].lastIndexOf(hostile) + hostile.length + 1;
    events[1].writeInt32LE(1000, lengthAt);
    writeFileSync(join(folder, 'hostile.bson'), Buffer.concat(events));
    const { code, stdout, stderr } = await run('hostile.bson', '--into', 'hostile.sqlite');
    expect(code).toBe(1);
    expect(stderr).toBe(
      `bsonrow-replicate: hostile.bson: byte ${events[0].length + lengthAt}: Invalid BSON string length (at \\u001b[2J)\nbsonrow-replicate: --on-error skip would leave it out and go on\n`,
    );
    expect(stdout).toContain('Read: 1 document (1 \\u001b[2J)\n');
  });

  test('within the document of an event: likewise', async () => {
    const bytes = Buffer.from(
      serialize({
        _id: { _data: '1' },
        operationType: 'insert',
        ns: { db: 'a', coll: 'b' },
        fullDocument: { _id: 1, text: 'abc' },
      }),
    );
    const lengthAt = bytes.indexOf('text') + 5;
    bytes.writeInt32LE(1000, lengthAt);
    writeFileSync(join(folder, 'event.bson'), bytes);
    const { code, stderr } = await run('event.bson', '--format', 'events', '--into', 'event.sqlite');
    expect(code).toBe(1);
    expect(stderr).toContain(`event.bson: byte ${lengthAt}: Invalid BSON string length`);
  });

  test('--on-error skip goes on, and logs what it leaves out beside the SQLite file', async () => {
    const good = Buffer.from(serialize({ _id: 1 }));
    const bad = Buffer.from(serialize({ n: 'no _id' }));
    writeFileSync(join(folder, 'skip.bson'), Buffer.concat([good, bad, good]));
    const args = ['skip.bson', '-n', 'a.b', '--into', 'skip.sqlite', '--on-error', 'skip'];
    const { code, stdout, stderr } = await run(...args);
    expect(code).toBe(0);
    expect(stdout).toContain('1 × document that cannot be converted, skipped');
    expect(stderr).toBe('bsonrow-replicate: 1 left out, see skip.sqlite.skipped.jsonl\n');
    const [entry, ...others] = readFileSync(join(folder, 'skip.sqlite.skipped.jsonl'), 'utf8').split('\n');
    expect(others).toEqual(['']);
    expect(JSON.parse(entry)).toEqual({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      place: `skip.bson: byte ${good.length}`,
      reason: expect.stringContaining('without _id'),
      bson: bad.toString('base64'),
    });
    expect(await run(...args, '--skip-log', 'elsewhere.jsonl', '--quiet')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'bsonrow-replicate: 1 left out, see elsewhere.jsonl\n',
    });
    expect(readFileSync(join(folder, 'elsewhere.jsonl'), 'utf8').split('\n')).toHaveLength(2);
  });

  test('a skip log that cannot be is told of before it is needed', async () => {
    const args = ['--into', 'early.sqlite', '--on-error', 'skip'];
    const { code, stdout, stderr } = await run(SAMPLE, ...args, '--skip-log', 'none/skipped.jsonl');
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^bsonrow-replicate: none\/skipped\.jsonl: the skip log cannot be written: ENOENT/,
    );
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  test('a missing file, a folder without documents, a sink that cannot be', async () => {
    expect(await run('missing.bson')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('missing.bson: there is no such file'),
    });
    expect(await run(SAMPLE, '--into', '.')).toMatchObject({
      code: 1,
      stderr: 'bsonrow-replicate: .: cannot be opened as an SQLite file: it is a folder\n',
    });
    const sink = await run(SAMPLE, '--into', 'no/such/folder.sqlite');
    expect(sink).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /no\/such\/folder\.sqlite: cannot be opened as an SQLite file: there is no folder \/.*\/no\/such\n$/,
      ),
    });
  });
});

test('--dry-run converts all and writes nothing', async () => {
  const { code, stdout } = await run(SAMPLE, '--dry-run', '--into', 'never.sqlite', '--show', 2);
  expect(code).toBe(0);
  expect(stdout).toMatch(/shop\.orders +\d+ +\d+ +– +–/);
  expect(existsSync(join(folder, 'never.sqlite'))).toBe(false);
});

test('--dry-run --on-error skip counts what it skips, and logs it nowhere', async () => {
  const bad = Buffer.from(serialize({ _id: 1, text: 'abc' }));
  bad.writeInt32LE(1000, bad.indexOf('text') + 5);
  writeFileSync(join(folder, 'dry.bson'), bad);
  const args = ['--dry-run', '--on-error', 'skip', '--into', 'dry.sqlite', '-n', 'a.b'];
  const { code, stdout, stderr } = await run('dry.bson', ...args);
  expect(code).toBe(0);
  expect(stderr).toBe('bsonrow-replicate: 1 would be left out\n');
  expect(stdout).toContain('1 × document that cannot be converted, skipped');
  expect(existsSync(join(folder, 'dry.sqlite.skipped.jsonl'))).toBe(false);
});

test('--quiet says nothing where all is well', async () => {
  expect(await run(SAMPLE, '--into', 'quiet.sqlite', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' });
});

describe.each([[[]], [['--workers', '2']], [['--workers', '3']]])(
  'what is called stored is stored: %j',
  (workers) => {
    const file = documentsFile(
      'five.bson',
      [1, 2, 3, 4, 5].map((_id) => ({ _id })),
    );
    const args = [file, '-n', 'a.b', '--batch-rows', 2, ...workers];
    const refuse = (sqlite, from) => {
      const db = new Database(join(folder, sqlite));
      db.exec(
        `CREATE TRIGGER no BEFORE INSERT ON "a.b" WHEN new._id >= ${from} BEGIN SELECT raise(ABORT, 'no'); END`,
      );
      db.close();
    };

    test.each([
      ['skip', 4, / a\.b +3 +0 +3 /],
      ['stop', 4, / a\.b +3 +0 +3 /],
      ['stop', 3, / a\.b +2 +0 +2 /],
      ['skip', 1, / a\.b +0 +0 +0 /],
    ])('--on-error %s, from %i on refused', async (action, from, line) => {
      const sqlite = `stored-${workers.length && workers[1]}-${action}-${from}.sqlite`;
      const empty = documentsFile('one.bson', [{ _id: 0 }]);
      await run(empty, '-n', 'a.b', '--into', sqlite);
      refuse(sqlite, from);
      new Database(join(folder, sqlite)).exec('DELETE FROM "a.b"');
      const { code, stdout, stderr } = await run(...args, '--into', sqlite, '--on-error', action);
      expect(code).toBe(action === 'skip' ? 0 : 1);
      expect(stdout.replace(/^/gm, ' ')).toMatch(line);
      const hint = 'bsonrow-replicate: --on-error skip would leave it out and go on\n';
      expect(stderr.endsWith(hint)).toBe(action === 'stop');
    });
  },
);

describe('standard output that is gone', () => {
  const into = (name) => [SAMPLE, '--into', join(folder, name), '--show', '60'];
  const shell = (command) =>
    new Promise((resolve) => {
      execFile('bash', ['-c', command], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, stdout, stderr });
      });
    });
  const commandOf = (args) => [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ');

  test('its reader has gone: the run goes on, and is well', async () => {
    const { code, stderr } = await shell(
      `${commandOf(into('closed.sqlite'))} | true; exit \${PIPESTATUS[0]}`,
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(readReplica(join(folder, 'closed.sqlite')).get('shop.products')).toHaveLength(60);
  });

  test('standard error: likewise', async () => {
    const bad = documentsFile('nothing.bson', [{ n: 1 }]);
    const args = [bad, '-n', 'a.b', '--into', join(folder, 'mute.sqlite'), '--on-error', 'skip', '--quiet'];
    const { code } = await shell(`{ ${commandOf(args)} 2>&1 >&3 | true; exit \${PIPESTATUS[0]}; } 3>&1`);
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'mute.sqlite.skipped.jsonl'))).toBe(true);
  });

  test.skipIf(!existsSync('/dev/full'))('there is no room for it: exit code 1, all is stored', async () => {
    const { code, stderr } = await shell(`${commandOf(into('full.sqlite'))} > /dev/full`);
    expect(stderr).toMatch(/^bsonrow-replicate: standard output: .*ENOSPC.*\n$/);
    expect(code).toBe(1);
    expect(readReplica(join(folder, 'full.sqlite')).get('shop.products')).toHaveLength(60);
  });
});

test('several inputs: folders, plain and gzip, events and documents', async () => {
  const file = documentsFile('plain.bson', [{ _id: 1, from: 'documents' }]);
  const { code } = await run(file, SAMPLE, '-n', 'my.documents', '--into', 'mixed.sqlite');
  expect(code).toBe(0);
  const replica = readReplica(join(folder, 'mixed.sqlite'));
  expect(replica.get('my.documents')).toEqual([{ _id: 1n, from: 'documents' }]);
  expect(replica.get('shop.products')).toHaveLength(60);
});

test.skipIf(process.platform === 'win32')('--limit ends a run over a pipe that stays open', async () => {
  const pipe = join(folder, 'open.bson');
  execFileSync('mkfifo', [pipe]);
  const ended = run(pipe, '--dry-run', '--limit', 4);
  // More than is read at once, and then nothing.
  const writer = createWriteStream(pipe);
  for (let _id = 0; _id < 300; _id += 1) writer.write(serialize({ _id, text: 'x'.repeat(1000) }));
  expect((await ended).stdout).toContain('Read: 4 documents');
  writer.destroy();
});

test('documents stored twice are stored once; --limit stops early', async () => {
  const file = documentsFile(
    'twice.bson',
    Array.from({ length: 10 }, (_, i) => ({ _id: i })),
  );
  const args = [file, '-n', 'a.b', '--into', 'twice.sqlite'];
  expect((await run(...args, '--limit', 4)).stdout).toContain('Read: 4 documents');
  expect(readReplica(join(folder, 'twice.sqlite')).get('a.b')).toHaveLength(4);
  await run(...args);
  await run(...args);
  expect(readReplica(join(folder, 'twice.sqlite')).get('a.b')).toHaveLength(10);
});
