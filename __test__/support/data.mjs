/**
 * The folder of real BSON that stands beside the project: `../shared/data`, or `BSONROW_DATA`. It may be absent;
 * `dataMissing` then says so and the tests that need it are skipped.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = process.env.BSONROW_DATA ?? fileURLToPath(new URL('../../../shared/data', import.meta.url));

/** Why there are no data; undefined where there are. */
export const dataMissing = existsSync(join(root, 'MANIFEST.md')) ? undefined : 'the data folder is absent';

const readMaybeGzipped = (path) =>
  path.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path);

/** All files below `folder` whose name ends so, by their path below the data folder, sorted. */
export function listFiles(folder, ...endings) {
  if (dataMissing) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** The bytes of a file, unpacked. */
export const readBytes = (name) => readMaybeGzipped(join(root, name));

/** The value of a JSON file. */
export const readJson = (name) => JSON.parse(readBytes(name).toString('utf8'));

/**
 * The documents of a file of concatenated documents. Stops at the first length that cannot be one; what is left,
 * `rest`, is then not empty.
 */
export function splitDocuments(bytes) {
  const documents = [];
  let at = 0;
  while (at + 5 <= bytes.length) {
    const length = bytes.readInt32LE(at);
    if (length < 5 || at + length > bytes.length) break;
    documents.push(bytes.subarray(at, at + length));
    at += length;
  }
  return { documents, rest: bytes.subarray(at) };
}

const corpusFolder = 'corpus/bson-corpus';

/** The files of the official corpus, parsed. */
export const corpusFiles = () =>
  listFiles(corpusFolder, '.json').map((name) => ({
    name: name.slice(corpusFolder.length + 1),
    ...readJson(name),
  }));

/** The binary-vector tests of the official corpus, those that have bytes. */
export const vectorCases = () =>
  listFiles('corpus/bson-binary-vector', '.json')
    .flatMap((name) => readJson(name).tests)
    .filter((test) => test.canonical_bson);

/** Well-formed documents of no more than `maximum` bytes, for tests that try many changes of each. */
export function smallDocuments(maximum) {
  // The first of a file: there are hundreds of decimals that differ in nothing but their digits.
  const corpus = corpusFiles().flatMap((file) => (file.valid ?? []).slice(0, 12));
  const files = listFiles('.', '.bson', '.bson.gz').filter((name) => !name.startsWith('corpus/go-fuzz'));
  return [
    ...corpus.map((test) => ({ name: test.description, bytes: Buffer.from(test.canonical_bson, 'hex') })),
    // The first documents tell the shape of a file.
    ...files.flatMap((name) =>
      splitDocuments(readBytes(name))
        .documents.slice(0, 2)
        .map((bytes, index) => ({ name: `${name}#${index}`, bytes: Buffer.from(bytes) })),
    ),
  ].filter(({ bytes }) => bytes.length <= maximum);
}
