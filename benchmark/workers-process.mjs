// One run of the replicator over a capture, in a process of its own and those that it starts: sends the time it took, and
// what the table holds.
import { NativeSourceRowConverter } from 'bsonrow';
import { DEFAULT_LIMITS } from '../replicator/lib/apply.mjs';
import { DEFAULT_RETRY } from '../replicator/lib/backoff.mjs';
import { Run } from '../replicator/lib/run.mjs';
import { openSink } from '../replicator/lib/sink/sink.mjs';
import { EncodingConverter } from '../replicator/lib/workers/encoding-converter.mjs';
import { Team } from '../replicator/lib/workers/team.mjs';

const DATE_MODE = 1;

const { file, address, workers, format, limit = Number.POSITIVE_INFINITY } = JSON.parse(process.argv[2]);
const dryRun = address === null;
const common = { dryRun, onWarning: console.error, onRefused: null, retry: DEFAULT_RETRY };
const sink =
  workers === 1
    ? await openSink(address ?? '', common)
    : await Team.open({
        ...common,
        into: address ?? '',
        appliers: workers - 1,
        format,
        collections: [],
        skipLog: null,
        limits: DEFAULT_LIMITS,
      });
const options = {
  format: 'events',
  namespace: null,
  collections: [],
  isSelected: () => true,
  dateMode: DATE_MODE,
  makeConverter: () =>
    workers > 1 && format === 'messagepack'
      ? new EncodingConverter(DATE_MODE)
      : new NativeSourceRowConverter(DATE_MODE),
  limit,
  limits: DEFAULT_LIMITS,
  onError: 'stop',
  skipLog: null,
};
const run = new Run(sink, options, { addBytes() {}, setDocuments() {}, stop() {} });
// When it returns, all is stored.
await run.replicate([{ file, size: 0, namespace: '' }]);
const { documents, bytes, wallTime } = run.report;
const [{ rows }] = await sink.tables();
await sink.close();
process.send({ node: process.version, documents, bytes, milliseconds: wallTime, rows });
process.disconnect();
