// Real documents: each file of more than 100 documents in ../shared/data, all of its documents in turn.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bson } from '../peer/index.mjs';
import { readDocuments } from './bson-file.mjs';

const folder = process.env.BSONROW_DATA ?? fileURLToPath(new URL('../../../shared/data', import.meta.url));

/** Where documents of use are kept. The corpus next to them holds test cases, empty documents for the most part. */
const isDataset = (file) => /^(datasets|dumps|events)\/.*\.bson(\.gz)?$/.test(file);

const hasId = (document) => Object.hasOwn(bson.deserialize(document, { raw: true }), '_id');

/**
 * Change events by several calls and by one, which the target is for; documents with an identity, or documents (as of an
 * oplog) without.
 */
function kindsOf(file, documents) {
  if (file.startsWith('events/')) return ['event', 'change'];
  return documents.every(hasId) ? ['row'] : ['columns'];
}

function scenario(file, documents, kind) {
  const name = file.replace(/\.bson(\.gz)?$/, '');
  const bytes = documents.reduce((sum, document) => sum + document.length, 0);
  return {
    id: kind === 'change' ? `data/${name}-change` : `data/${name}`,
    title: kind === 'change' ? `${name}, convertChange` : name,
    group: 'Real documents',
    kind,
    targets: kind === 'event' ? undefined : { typescript: bytes / documents.length > 1024 ? 7 : 5 },
    documents: () => documents,
  };
}

function findDatasets() {
  if (!existsSync(folder)) {
    return [{ id: 'data', title: 'real documents', group: 'Real documents', skipped: `${folder} is absent` }];
  }
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter(isDataset)
    .sort()
    .map((file) => ({ file, documents: readDocuments(join(folder, file)) }))
    .filter(({ documents }) => documents.length > 100)
    .flatMap(({ file, documents }) =>
      kindsOf(file, documents).map((kind) => scenario(file, documents, kind)),
    );
}

export const datasets = findDatasets();
