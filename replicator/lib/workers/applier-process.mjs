// A process that applies: takes changes from the one that reads, and stores them in a sink of its own. It ends with that
// process, however that ends.
import { Applier } from '../apply.mjs';
import { makeSelection } from '../namespace.mjs';
import { openSink } from '../sink/sink.mjs';
import { SkipLog } from '../skip-log.mjs';
import { loadFormat } from './messages/formats.mjs';
import { applierOf } from './routing.mjs';
import { SpoolReader } from './spool.mjs';

const spool = new SpoolReader(Number(process.env.BSONROW_SPOOL_FD));
const interruption = new AbortController();

let sink = null;
let applier = null;
let format = null;
let part = null;
/** Waits for how far the source has been read with a change. */
let onAnswer = null;

/** That the other process is gone comes as an event of its own. */
const send = (message) => process.connected && process.send(message, () => {});

/** What can be asked for, in the order in which it comes. */
const WORK = {
  /**
   * @param {object} options
   * @param {string} options.into the sink's address
   * @param {{ index: number, count: number }} options.part which of the processes this is
   */
  async open({ into, dryRun, collections, skipLog, retry, limits, format: formatName, ...options }) {
    part = options.part;
    format = await loadFormat(formatName);
    const log = skipLog === null ? null : new SkipLog(skipLog);
    const skipRefused = (change, reason) => {
      log.change(change, reason);
      const { kind, namespace } = change;
      send({ refused: { change: { kind, namespace }, reason } });
    };
    sink = await openSink(into, {
      dryRun,
      part,
      isSelected: makeSelection(collections),
      onWarning: (warning) => send({ warning }),
      onRefused: log === null ? null : skipRefused,
      retry: { ...retry, signal: interruption.signal },
    });
    applier = new Applier(sink, limits, (tally) => send({ stored: tally }));
  },

  /** @returns {Promise<number>} milliseconds spent in the sink so far */
  async apply({ slot, length, progress }, number) {
    const changes = length === 0 ? [] : format.decode(spool.read(slot, length));
    changes.forEach((change, index) => {
      applier.add(change, 0, () => askHowFar(number, index));
    });
    await applier.flush(progress);
    return applier.sinkTime;
  },

  claim: ({ source, run }) => sink.claim(source, run),
  refresh: () => sink.refresh(),
  reset: () => sink.reset(),
  /** Only those that this process applies. */
  tables: () => sink.tables((namespace) => applierOf(namespace, part.count) === part.index),
  firstRows: ({ namespace, count }) => sink.firstRows(namespace, count),
  close: () => sink?.close(),
};

function askHowFar(number, index) {
  return new Promise((resolve) => {
    onAnswer = resolve;
    send({ question: { number, index } });
  });
}

async function work({ number, work: name, argument }) {
  try {
    send({ number, value: await WORK[name](argument, number) });
  } catch ({ name: errorName, message, stack }) {
    send({ number, error: { name: errorName, message, stack } });
  }
}

let underWay = Promise.resolve();
process.on('message', (message) => {
  if (message.isInterrupted) interruption.abort();
  else if ('answer' in message) onAnswer(message.answer);
  else underWay = underWay.then(() => work(message));
});
// A transaction that is not complete is undone by the database.
process.on('disconnect', () => process.exit());
// A terminal tells all processes of the command; it is the one that reads that brings the run to its end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
