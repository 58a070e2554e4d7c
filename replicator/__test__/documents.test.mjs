// Files into documents: any chunking, every cut, damaged gzip.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { serialize } from 'bson';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputError } from '../lib/errors.mjs';
import { readDocuments } from '../lib/source/documents.mjs';
import { DocumentFramer } from '../lib/source/framing.mjs';
import { makeFolder } from './support/replica.mjs';

const folder = makeFolder();
const DOCUMENTS = [
  {},
  { a: 1 },
  { text: 'x'.repeat(300) },
  { nested: { list: [1, 'é', null] } },
  { last: true },
].map((document) => Buffer.from(serialize(document)));
const BYTES = Buffer.concat(DOCUMENTS);
const OFFSETS = DOCUMENTS.map((_, i) => DOCUMENTS.slice(0, i).reduce((sum, { length }) => sum + length, 0));

/** Their bytes are good until more is asked for. */
const kept = (documents) => documents.map(({ bytes, offset }) => ({ bytes: Buffer.from(bytes), offset }));

function frame(chunks) {
  const framer = new DocumentFramer();
  const documents = [];
  let error = null;
  try {
    for (const chunk of chunks) {
      const completed = [];
      try {
        framer.push(chunk, completed);
      } finally {
        documents.push(...kept(completed));
      }
    }
    framer.end();
  } catch (caught) {
    error = caught;
  }
  return { documents, error };
}

async function read(name, bytes) {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  const documents = [];
  let size = 0;
  try {
    for await (const batch of readDocuments(file, (count) => (size += count))) documents.push(...kept(batch));
    return { documents, size, error: null };
  } catch (error) {
    return { documents, size, error };
  }
}

function expectDocuments(documents, count) {
  expect(documents.map(({ bytes }) => bytes.toString('hex'))).toEqual(
    DOCUMENTS.slice(0, count).map((bytes) => bytes.toString('hex')),
  );
  expect(documents.map(({ offset }) => offset)).toEqual(OFFSETS.slice(0, count));
}

describe('framing', () => {
  test('any chunking gives the same documents', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: BYTES.length }), { maxLength: 40 }), (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), BYTES.length];
        const chunks = edges.slice(1).map((end, i) => BYTES.subarray(edges[i], end));
        const { documents, error } = frame(chunks);
        expect(error).toBeNull();
        expectDocuments(documents, DOCUMENTS.length);
      }),
      { numRuns: 500 },
    );
  });

  test.each([1, 2, 3, 4, 5, 7, 64])('chunks of %i bytes', (size) => {
    const chunks = [];
    for (let i = 0; i < BYTES.length; i += size) chunks.push(BYTES.subarray(i, i + size));
    const { documents, error } = frame(chunks);
    expect(error).toBeNull();
    expectDocuments(documents, DOCUMENTS.length);
  });

  test('a cut anywhere keeps the documents before it and says where it is', () => {
    for (let cut = 0; cut < BYTES.length; cut += 1) {
      for (const size of [BYTES.length, 1]) {
        const chunks = [];
        for (let i = 0; i < cut; i += size) chunks.push(BYTES.subarray(i, Math.min(i + size, cut)));
        const { documents, error } = frame(chunks);
        const whole = DOCUMENTS.filter(({ length }, i) => OFFSETS[i] + length <= cut).length;
        expectDocuments(documents, whole);
        if (cut === OFFSETS[whole]) {
          expect(error).toBeNull();
        } else {
          expect(error.message).toMatch(/cut short/);
          expect(error.offset).toBe(OFFSETS[whole]);
        }
      }
    }
  });

  test.each([-1, 0, 4, 48 * 1024 * 1024 + 1, 2 ** 31 - 1])('a length of %i is damage', (length) => {
    const bytes = Buffer.from(BYTES);
    bytes.writeInt32LE(length, OFFSETS[2]);
    for (const chunks of [[bytes], Array.from(bytes, (byte) => Buffer.of(byte))]) {
      const { documents, error } = frame(chunks);
      expectDocuments(documents, 2);
      expect(error).toMatchObject({ offset: OFFSETS[2], message: `Invalid BSON document length ${length}` });
    }
  });

  test('a document that does not end in a zero byte is damage', () => {
    const bytes = Buffer.from(BYTES);
    bytes[OFFSETS[3] - 1] = 1;
    const { documents, error } = frame([bytes]);
    expectDocuments(documents, 2);
    expect(error).toMatchObject({ offset: OFFSETS[2], message: 'Invalid BSON document terminator' });
  });

  test('another kind of file is asked after', () => {
    expect(frame([Buffer.from('{"a": 1}')]).error).toMatchObject({
      offset: 0,
      message: 'Invalid BSON document length 576791163: is this a file of BSON?',
    });
  });

  test('an archive is told by its first bytes', () => {
    expect(frame([Buffer.from('6de29981', 'hex')]).error.message).toMatch(/archive of mongodump/);
  });
});

describe('files', () => {
  test('plain, gzip, gzip in several members; whatever their names', async () => {
    const members = Buffer.concat(DOCUMENTS.map((bytes) => gzipSync(bytes)));
    for (const bytes of [BYTES, gzipSync(BYTES), members]) {
      const { documents, size, error } = await read('any.dat', bytes);
      expect(error).toBeNull();
      expect(size).toBe(bytes.length);
      expectDocuments(documents, DOCUMENTS.length);
    }
  });

  test('an empty file holds no documents', async () => {
    for (const bytes of [Buffer.alloc(0), gzipSync(Buffer.alloc(0))]) {
      expect(await read('empty', bytes)).toMatchObject({ documents: [], error: null });
    }
  });

  test('documents larger than a chunk, and many of them', async () => {
    const large = Buffer.from(serialize({ text: 'y'.repeat(700_000) }));
    const bytes = Buffer.concat([large, BYTES, large, large]);
    for (const stored of [bytes, gzipSync(bytes)]) {
      const { documents, error } = await read('large', stored);
      expect(error).toBeNull();
      expect(Buffer.concat(documents.map((document) => document.bytes)).equals(bytes)).toBe(true);
    }
  });

  test('a gzip file cut anywhere gives the documents before the cut, and an error with its place', async () => {
    const packed = gzipSync(BYTES, { level: 1 });
    for (let cut = 2; cut < packed.length; cut += 1) {
      const { documents, error } = await read('cut.gz', packed.subarray(0, cut));
      expect(error).toBeInstanceOf(InputError);
      expect(error.message).toMatch(/cut\.gz: byte \d+: the gzip data is damaged: unexpected end of file/);
      const flushed = partOf(packed, cut);
      const whole = DOCUMENTS.filter(({ length }, i) => OFFSETS[i] + length <= flushed).length;
      expectDocuments(documents, whole);
      expect(error.offset).toBe(flushed);
    }
  });

  test('a gzip file with a byte changed never gives a document that was not in it', async () => {
    const packed = gzipSync(BYTES);
    for (let i = 0; i < packed.length; i += 1) {
      const damaged = Buffer.from(packed);
      damaged[i] ^= 0x55;
      const { documents, error } = await read('changed.gz', damaged);
      if (error === null) expectDocuments(documents, documents.length);
      else expect(error).toBeInstanceOf(InputError);
    }
  });

  test('a missing file is named', async () => {
    const generator = readDocuments(join(folder, 'missing.bson'));
    await expect(generator.next()).rejects.toThrow(/missing\.bson: there is no such file/);
  });
});

/** How many bytes can be unpacked from the first `cut` bytes. */
function partOf(packed, cut) {
  return gunzipSync(packed.subarray(0, cut), { finishFlush: 2 }).length;
}
