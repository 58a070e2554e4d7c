// One contender of the snapshot benchmark in a process of its own: reads all that the server has, through the driver
// and the replicator's reader of cursors, and sends how long it took and how much memory.
import { createRequire } from 'node:module';
import { parseAddress } from '../replicator/lib/source/mongodb/address.mjs';
import { BatchReader } from '../replicator/lib/source/mongodb/batches.mjs';
import { Connection } from '../replicator/lib/source/mongodb/connection.mjs';
import { openChangeStream, openSnapshot } from '../replicator/lib/source/mongodb/pipeline.mjs';
import { selectCollections } from '../replicator/lib/source/mongodb/selection.mjs';
import { firstDifference } from './snapshot-check.mjs';
import { changesMissing, snapshotContenders } from './snapshot-contenders.mjs';

const BATCH_SIZE = 10_000;
const driver = createRequire(new URL('../replicator/package.json', import.meta.url))('mongodb');

/** What the reader of cursors is asked for. */
function requestOf(kind, convert) {
  const isStream = kind === 'changes';
  const stream = {
    selection: selectCollections([], 'shop', 'auto'),
    fullDocument: 'updateLookup',
    stages: [],
  };
  const start = { startAtOperationTime: new driver.Timestamp({ t: 1, i: 1 }) };
  return {
    name: kind,
    open: (batchSize) =>
      isStream
        ? openChangeStream({ ...stream, splits: false }, start, batchSize)
        : openSnapshot('shop.customers', null, batchSize),
    convert,
    isStream,
  };
}

/** Reads so many documents at least; each reply's rows are dropped when the next has come. @returns how many */
async function read(uri, kind, documents, convert) {
  const connection = new Connection(driver, parseAddress(`${uri}/shop`));
  const options = { batchSize: BATCH_SIZE, maxTimeMs: 100, retries: 1, retryDelay: 1, onWarning: fail };
  let seen = 0;
  for await (const { batch } of new BatchReader(connection, options).read(requestOf(kind, convert))) {
    seen += batch[kind].length;
    if (seen >= documents) break;
  }
  await connection.close();
  return seen;
}

function fail(message) {
  throw new Error(message);
}

/** The answers of the first reply, before anything is timed. */
async function check(uri, kind) {
  const [typescript, bsonrow] = [snapshotContenders.typescript, snapshotContenders.bsonrow].map(({ make }) =>
    make(),
  );
  let difference;
  await read(uri, kind, 1, (cursor) => {
    const batch = bsonrow[kind](cursor);
    difference ??= firstDifference(typescript[kind](cursor)[kind], batch[kind]);
    return batch;
  });
  return difference;
}

async function measure({ uri, documents, kind, contender }) {
  const convert = snapshotContenders[contender].make()[kind];
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const seen = await read(uri, kind, documents, convert);
  if (seen !== documents) throw new Error(`${seen} documents were read, not ${documents}`);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  // On Linux, macOS and Windows alike in KiB.
  return { seconds, cpuSeconds: (user + system) / 1e6, peakMiB: process.resourceUsage().maxRSS / 1024 };
}

const task = JSON.parse(process.argv[2]);
const skipped = task.kind === 'changes' && task.contender !== 'driver' ? changesMissing : undefined;
const result = { node: process.version, skipped };
if (skipped === undefined) {
  if (task.contender === 'check') result.difference = await check(task.uri, task.kind);
  else Object.assign(result, await measure(task));
}
process.send(result, () => process.disconnect());
