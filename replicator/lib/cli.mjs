// The command line: options in, messages and an exit code out.
import { readFileSync } from 'node:fs';
import { DateRenderMode } from 'bsonrow';
import { Command, InvalidArgumentError, Option } from 'commander';
import { InputError, SinkError, UsageError } from './errors.mjs';
import { makeSelection, parseNamespace } from './namespace.mjs';
import { startProgress } from './progress.mjs';
import { Run } from './run.mjs';
import { openSink } from './sink/sink.mjs';
import { findInputs } from './source/files.mjs';
import { renderHead, renderSummary } from './summary.mjs';

export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 };

const DATE_MODES = {
  legacy: DateRenderMode.LEGACY_MILLISECONDS,
  iso: DateRenderMode.ISO_MILLISECONDS,
  'iso-seconds': DateRenderMode.ISO_SECONDS,
};
const DEFAULT_WIDTH = 100;

/**
 * @param {string[]} args
 * @param {{ stdout?: NodeJS.WritableStream, stderr?: NodeJS.WritableStream }} streams
 * @returns {Promise<number>} the exit code
 */
export async function main(args, { stdout = process.stdout, stderr = process.stderr } = {}) {
  const command = makeCommand(stdout, stderr);
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (error.code?.startsWith('commander.')) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    throw error;
  }
  try {
    return await replicate(command.args, command.opts(), stdout, stderr);
  } catch (error) {
    if (error instanceof UsageError || error instanceof InputError || error instanceof SinkError) {
      stderr.write(`bsonrow-replicate: ${error.message}\n`);
      return error instanceof UsageError ? EXIT.usage : EXIT.failed;
    }
    throw error;
  }
}

async function replicate(paths, options, stdout, stderr) {
  const warn = (message) => stderr.write(`bsonrow-replicate: warning: ${message}\n`);
  const collections = options.collection ?? [];
  const isSelected = makeSelection(collections);
  const namespace = options.namespace === undefined ? null : parseNamespace(options.namespace);
  const inputs = await findInputs(paths, warn);
  const sink = openSink(options.into, { dryRun: options.dryRun === true, onWarning: warn });
  const interruption = new AbortController();
  const onInterrupt = () => interruption.abort();
  process.once('SIGINT', onInterrupt);
  try {
    if (options.fresh) await sink.reset();
    const total = inputs.reduce((sum, { size }) => sum + size, 0);
    const progress = startProgress(total, { quiet: options.quiet === true, stream: stderr });
    const run = new Run(
      sink,
      {
        format: options.format,
        namespace,
        collections,
        isSelected,
        dateMode: DATE_MODES[options.dates],
        limit: options.limit ?? Infinity,
        batchRows: options.batch,
        onError: options.onError,
        signal: interruption.signal,
      },
      progress,
    );
    // The account is given of a run that failed, too; but the failure is what is reported last.
    const failure = await run.replicate(inputs).then(
      () => null,
      (error) => error,
    );
    progress.stop();
    try {
      await printAccount(run.report, sink, options, stdout);
    } catch (error) {
      throw failure ?? error;
    }
    if (failure !== null) throw failure;
    return interruption.signal.aborted ? EXIT.interrupted : EXIT.done;
  } finally {
    process.off('SIGINT', onInterrupt);
    await sink.close();
  }
}

async function printAccount(report, sink, { quiet, show }, stdout) {
  const print = (lines) => stdout.write(`${lines.join('\n')}\n`);
  const tables = await sink.tables();
  if (!quiet) print(renderSummary(report, tables));
  if (show === undefined) return;
  for (const { namespace, table } of tables) {
    if (table === null) continue;
    print(['', ...renderHead(table, await sink.firstRows(namespace, show), stdout.columns ?? DEFAULT_WIDTH)]);
  }
}

function makeCommand(stdout, stderr) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return new Command('bsonrow-replicate')
    .description(
      'Replicates MongoDB change events or the documents of a mongodump into an SQLite file: one table a ' +
        'collection, one row a document.',
    )
    .argument('<path...>', '.bson or .bson.gz files, or directories that hold some')
    .option('-i, --into <file>', 'the SQLite file', 'replica.sqlite')
    .addOption(
      new Option('-f, --format <format>', 'what the files hold; auto: told by the first document of each')
        .choices(['auto', 'events', 'documents'])
        .default('auto'),
    )
    .option(
      '-n, --namespace <db.coll>',
      'namespace of plain documents (default: from the path, db/coll.bson)',
    )
    .option('-c, --collection <db.coll>', 'replicate only this one, or db.* (repeatable)', collect)
    .addOption(
      new Option('-d, --dates <mode>', 'how dates are written')
        .choices(Object.keys(DATE_MODES))
        .default('iso'),
    )
    .option('-l, --limit <count>', 'stop after so many documents (default: read all)', wholeNumber)
    .option('-b, --batch <rows>', 'changes in a transaction', wholeNumber, 1000)
    .addOption(
      new Option('--on-error <action>', 'a document that cannot be converted')
        .choices(['stop', 'skip'])
        .default('stop'),
    )
    .option('--fresh', 'drop the tables of earlier runs first')
    .option('--dry-run', 'read and convert, write nothing')
    .option('-s, --show <rows>', 'print the first rows of each table at the end', wholeNumber)
    .option('-q, --quiet', 'no progress, no summary')
    .version(version, '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .addHelpText(
      'after',
      '\nExit codes: 0 done; 1 stopped by an error, 130 interrupted: what was read before is stored;\n' +
        '2 wrong usage.',
    );
}

function collect(value, previous = []) {
  return [...previous, value];
}

function wholeNumber(text) {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number === 0) {
    throw new InvalidArgumentError('It must be a whole number above 0.');
  }
  return number;
}
