// One run of the replicator over a stream, in a process of its own: sends the time it took, and what the table holds.
import { DEFAULT_LIMITS } from '../replicator/lib/apply.mjs';
import { DEFAULT_RETRY } from '../replicator/lib/backoff.mjs';
import { Run } from '../replicator/lib/run.mjs';
import { openSink } from '../replicator/lib/sink/sink.mjs';

const NAMESPACE = 'shop.customers';

const { file, address, isBatched } = JSON.parse(process.argv[2]);
const sink = await openSink(address, {
  dryRun: false,
  onWarning: console.error,
  onRefused: null,
  retry: DEFAULT_RETRY,
});
const options = {
  format: 'events',
  namespace: null,
  collections: [],
  isSelected: () => true,
  dateMode: 1,
  limit: Number.POSITIVE_INFINITY,
  limits: isBatched ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, rows: 1 },
  onError: 'stop',
  skipLog: null,
};
const run = new Run(sink, options, { addBytes() {}, setDocuments() {}, stop() {} });
await run.replicate([{ file, size: 0, namespace: '' }]);
const { documents, wallTime } = run.report;

const { rows, columns } = await sink.firstRows(NAMESPACE, 1_000_000);
const visitsAt = columns.indexOf('visits');
const visits = rows.reduce((sum, row) => sum + BigInt(row[visitsAt]), 0n);
await sink.close();
process.send({
  node: process.version,
  events: documents,
  milliseconds: wallTime,
  rows: rows.length,
  visits: String(visits),
});
process.disconnect();
