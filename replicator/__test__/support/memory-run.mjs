// A run in a process of its own, whose memory is looked at: node memory-run.mjs <file> <sink>. The sink is `slow`, which
// stores nothing and takes its time, or an address.
//
// Tells the parent how many bytes have been stored so far, and at the end how much memory it took.

import { DEFAULT_LIMITS } from '../../lib/apply.mjs';
import { Run } from '../../lib/run.mjs';
import { NullSink } from '../../lib/sink/null.mjs';
import { openSink } from '../../lib/sink/sink.mjs';
import { SkipLog } from '../../lib/skip-log.mjs';
import { peakMemory } from './peak-memory.mjs';

const SLOW_MS = 30;

class SlowSink extends NullSink {
  async apply(changes) {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    await super.apply(changes);
  }
}

const [file, address] = process.argv.slice(2);
const retry = { retries: 3, retryDelay: 20 };
const sink =
  address === 'slow'
    ? new SlowSink()
    : await openSink(address, { dryRun: false, onWarning: console.error, onRefused: null, retry });

const options = {
  format: 'events',
  namespace: null,
  collections: [],
  isSelected: () => true,
  dateMode: 1,
  limit: Infinity,
  limits: DEFAULT_LIMITS,
  onError: 'stop',
  skipLog: new SkipLog('/dev/null'),
};
const run = new Run(sink, options, { addBytes() {}, setDocuments() {}, stop() {} });

const apply = sink.apply.bind(sink);
sink.apply = async (changes, progress) => {
  const { bytes } = run.report;
  await apply(changes, progress);
  process.send({ stored: bytes });
};

await run.replicate([{ file, size: 0, namespace: '' }]);
await sink.close();
process.send({ documents: run.report.documents, peakMiB: peakMemory() });
process.disconnect();
