// The command line: options in, messages and an exit code out.
import { readFileSync } from 'node:fs';
import { DateRenderMode } from 'bsonrow';
import { Command, Option } from 'commander';
import { checkArguments } from './check-arguments.mjs';
import { ConnectionLostError, InputError, SinkError, UsageError } from './errors.mjs';
import { makeSelection, parseNamespace } from './namespace.mjs';
import { startProgress } from './progress.mjs';
import { Run } from './run.mjs';
import { addSinkOptions, batchLimits, skipLogFile } from './sink/options.mjs';
import { openSink } from './sink/sink.mjs';
import { SkipLog } from './skip-log.mjs';
import { findInputs } from './source/files.mjs';
import { isMongoAddress } from './source/mongodb/address.mjs';
import { openLiveSource } from './source/mongodb/open.mjs';
import { addLiveOptions } from './source/mongodb/options.mjs';
import { renderHead, renderSummary } from './summary.mjs';
import { printable } from './text-table.mjs';
import { wholeNumber } from './whole-number.mjs';
import { EncodingConverter } from './workers/encoding-converter.mjs';
import { addWorkerOptions, readWorkerOptions } from './workers/options.mjs';
import { Team } from './workers/team.mjs';

export const EXIT = { done: 0, failed: 1, usage: 2, connectionLost: 3, interrupted: 130 };

const DATE_MODES = {
  legacy: DateRenderMode.LEGACY_MILLISECONDS,
  iso: DateRenderMode.ISO_MILLISECONDS,
  'iso-seconds': DateRenderMode.ISO_SECONDS,
};
const DEFAULT_WIDTH = 100;

/**
 * @param {string[]} args
 * @param {object} [environment]
 * @param {NodeJS.WritableStream} [environment.stdout]
 * @param {NodeJS.WritableStream} [environment.stderr]
 * @param {() => Promise<typeof import('mongodb')>} [environment.loadDriver] of a live source
 * @returns {Promise<number>} the exit code
 */
export async function main(args, { stdout = process.stdout, stderr = process.stderr, loadDriver } = {}) {
  const command = makeCommand(stdout, stderr);
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (error.code?.startsWith('commander.')) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    throw error;
  }
  try {
    checkArguments(command);
    return await replicate(command.args, command.opts(), { stdout, stderr, loadDriver });
  } catch (error) {
    const code = exitCodeOf(error);
    if (code === null) throw error;
    stderr.write(`bsonrow-replicate: ${printable(error.message)}\n`);
    if (error.isSkippable === true)
      stderr.write('bsonrow-replicate: --on-error skip would leave it out and go on\n');
    return code;
  }
}

/** @returns {number | null} `null` for a fault of the program */
function exitCodeOf(error) {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof ConnectionLostError) return EXIT.connectionLost;
  return error instanceof InputError || error instanceof SinkError ? EXIT.failed : null;
}

/** What ends a run in good order: everything read before is stored. */
const INTERRUPTS = ['SIGINT', 'SIGTERM'];

/** The driver is loaded only where it is needed. */
const loadInstalledDriver = () => import('mongodb');

async function replicate(paths, options, { stdout, stderr, loadDriver = loadInstalledDriver }) {
  const say = (message) => stderr.write(`bsonrow-replicate: ${printable(message)}\n`);
  const warn = (message) => say(`warning: ${message}`);
  const collections = options.collection ?? [];
  const isSelected = makeSelection(collections);
  const workers = readWorkerOptions(options);
  const namespace = options.namespace === undefined ? null : parseNamespace(options.namespace);
  const interruption = new AbortController();
  const live = paths.some(isMongoAddress)
    ? openLiveSource(paths, options, await loadDriver(), { onWarning: warn, signal: interruption.signal })
    : null;
  const inputs = live === null ? await findInputs(paths, warn) : [];
  const { onError, retries, retryDelay } = options;
  const dateMode = DATE_MODES[options.dates];
  const skipLog = options.dryRun || onError === 'stop' ? null : new SkipLog(skipLogFile(options));
  let run = null;
  const countRefused = (change, reason) => run.report.leaveOutRefused(change, reason);
  const open = workers === null ? openAlone : openTeam;
  const sink = await open(options, {
    workers,
    skipLog,
    countRefused,
    onWarning: warn,
    retry: { retries, retryDelay, signal: interruption.signal },
  });
  const onInterrupt = () => interruption.abort();
  for (const signal of INTERRUPTS) process.once(signal, onInterrupt);
  try {
    skipLog?.check();
    const total = inputs.reduce((sum, { size }) => sum + size, 0);
    const progress = startProgress(total, { quiet: options.quiet === true || live !== null, stream: stderr });
    const common = {
      namespace,
      dateMode,
      fresh: options.fresh === true,
      makeConverter:
        workers?.format === 'messagepack' ? (own) => new EncodingConverter(dateMode, own) : undefined,
      limit: options.limit ?? Infinity,
      limits: batchLimits(options),
      onError,
      skipLog,
      signal: interruption.signal,
    };
    run =
      live === null
        ? new Run(sink, { ...common, format: options.format, collections, isSelected }, progress)
        : live.makeRun(sink, { ...common, retries, retryDelay }, options.quiet ? null : stderr);
    // The account is given of a run that failed, too; but the failure is what is reported last.
    const failure = await run.replicate(inputs).then(
      () => null,
      (error) => error,
    );
    progress.stop();
    try {
      // Only where all of the files has been read, by this run, can something be missed.
      const isAll = live === null && failure === null && !interruption.signal.aborted && !options.limit;
      const missable = isAll && run.report.alreadyApplied === 0 ? collections : [];
      await printAccount(run.report, sink, { ...options, missable }, stdout);
    } catch (error) {
      throw failure ?? error;
    }
    const { leftOut } = run.report;
    if (leftOut > 0)
      say(
        skipLog === null
          ? `${leftOut} would be left out`
          : `${leftOut} left out, see ${skipLogFile(options)}`,
      );
    if (failure !== null) throw failure;
    if (!interruption.signal.aborted) return EXIT.done;
    say('interrupted');
    return EXIT.interrupted;
  } finally {
    for (const signal of INTERRUPTS) process.off(signal, onInterrupt);
    await live?.close();
    await sink.close();
  }
}

/** A misspelt --collection selects nothing, which looks like a source that has no more. */
function warnOfNothing(report, tables, collections) {
  const namespaces = [...report.collections.keys(), ...tables.map(({ namespace }) => namespace)];
  for (const pattern of collections) {
    if (namespaces.some(makeSelection([pattern]))) continue;
    report.warn('collection to replicate of which there was nothing', pattern);
  }
}

/** The sink of a run that does all in this process. */
function openAlone(
  { into, dryRun = false, onError, collection },
  { skipLog, countRefused, onWarning, retry },
) {
  const skipRefused = (change, reason) => {
    skipLog?.change(change, reason);
    countRefused(change, reason);
  };
  return openSink(into, {
    dryRun,
    onWarning,
    isSelected: makeSelection(collection ?? []),
    onRefused: onError === 'skip' ? skipRefused : null,
    retry,
  });
}

/** Other processes, as a sink. */
function openTeam(options, { workers, countRefused, onWarning, retry }) {
  const { into, dryRun = false, onError, collection } = options;
  return Team.open({
    ...workers,
    into,
    dryRun,
    collections: collection ?? [],
    skipLog: onError === 'skip' ? skipLogFile(options) : null,
    limits: batchLimits(options),
    retry,
    onWarning,
    onRefused: countRefused,
  });
}

async function printAccount(report, sink, { quiet, show, missable }, stdout) {
  const print = (lines) => stdout.write(`${lines.join('\n')}\n`);
  // Counting the rows of large tables takes its time.
  if (quiet && show === undefined) return;
  const tables = await sink.tables();
  warnOfNothing(report, tables, missable);
  if (!quiet) print(renderSummary(report, tables));
  if (show === undefined) return;
  for (const { namespace, table } of tables) {
    if (table === null) continue;
    print(['', ...renderHead(table, await sink.firstRows(namespace, show), stdout.columns ?? DEFAULT_WIDTH)]);
  }
}

function makeCommand(stdout, stderr) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const command = new Command('bsonrow-replicate')
    .description(
      'Replicates MongoDB into an SQLite file or a PostgreSQL database, one table a collection, one row a document: ' +
        'from files of change events or of a mongodump, or live from a server.',
    )
    .argument('<path...>', '.bson or .bson.gz files, directories that hold some, or mongodb://host/database')
    .option('-i, --into <sink>', 'an SQLite file, or postgres://user@host/database', 'replica.sqlite')
    .addOption(
      new Option('-f, --format <format>', 'what the files hold; auto: told by the first document of each')
        .choices(['auto', 'events', 'documents'])
        .default('auto'),
    )
    .option(
      '-n, --namespace <db.coll>',
      'namespace of plain documents (default: from the path, db/coll.bson), and of events without one',
    )
    .option('-c, --collection <db.coll>', 'replicate only this one, or db.* (repeatable)', collect)
    .addOption(
      new Option('-d, --dates <mode>', 'how dates are written')
        .choices(Object.keys(DATE_MODES))
        .default('iso'),
    )
    .option('-l, --limit <count>', 'stop after so many documents or events (default: read all)', wholeNumber)
    .option('--fresh', 'drop the tables of earlier runs, once the source is there')
    .option('--dry-run', 'read and convert, write nothing')
    .option('-s, --show <rows>', 'print the first rows of each table at the end', wholeNumber)
    .option('-q, --quiet', 'no progress, no summary');
  return addLiveOptions(addWorkerOptions(addSinkOptions(command)))
    .optionsGroup('Other:')
    .version(version, '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 1 stopped by an error, 3 connection lost, 130 interrupted: what was read before is\n' +
        'stored, unless it was the sink that failed; 2 wrong usage.',
    );
}

function collect(value, previous = []) {
  return [...previous, value];
}
