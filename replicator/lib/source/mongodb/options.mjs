// The options of the command that only a live source has.
import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../errors.mjs';
import { wholeNumber } from '../../whole-number.mjs';

const DEFAULT_IDLE_SECONDS = 3;

/** By the names under which commander gives them. */
const NAMES = new Set([
  'snapshot',
  'follow',
  'untilCaughtUp',
  'watch',
  'pipeline',
  'fullDocument',
  'startAt',
  'batchSize',
  'maxTimeMs',
]);

export const isLiveOption = (name) => NAMES.has(name);

/** @param {import('commander').Command} command */
export function addLiveOptions(command) {
  command.optionsGroup('Live source (mongodb://…):');
  return command
    .addOption(
      new Option('--snapshot <when>', 'auto: once, before the change stream; only: no change stream; never')
        .choices(['auto', 'only', 'never'])
        .default('auto'),
    )
    .option('--follow', 'go on until interrupted (default)')
    .option(
      '--until-caught-up [seconds]',
      `end after so many seconds without an event, ${DEFAULT_IDLE_SECONDS} where no number is given`,
      positive,
    )
    .addOption(
      new Option(
        '--watch <what>',
        'what the change stream is opened on; auto: the database, or the cluster for several',
      )
        .choices(['auto', 'collection', 'database', 'cluster'])
        .default('auto'),
    )
    .option('--pipeline <json>', 'stages for the change stream, as extended JSON')
    .addOption(
      new Option('--full-document <mode>', 'how the documents of updates are found')
        .choices(['updateLookup', 'required'])
        .default('updateLookup'),
    )
    .option('--start-at <time>', 'begin at this operation time: seconds[:increment]', operationTime)
    .option('--batch-size <count>', 'documents or events in a reply of the server', wholeNumber, 1000)
    .option(
      '--max-time-ms <ms>',
      'how long the server waits for an event before it replies',
      wholeNumber,
      1000,
    );
}

/**
 * The same, checked together and read.
 * @param {Record<string, any>} options of commander
 * @param {{ EJSON: object, Timestamp: Function }} bson the driver's copy
 */
export function readLiveOptions(options, { EJSON, Timestamp }) {
  const { follow, untilCaughtUp, startAt, snapshot } = options;
  if (follow && untilCaughtUp !== undefined)
    throw new UsageError('--follow and --until-caught-up: choose one');
  if (snapshot === 'only' && startAt !== undefined)
    throw new UsageError('--start-at is for a change stream, and --snapshot only opens none');
  return {
    snapshot,
    idleSeconds:
      untilCaughtUp === undefined ? null : untilCaughtUp === true ? DEFAULT_IDLE_SECONDS : untilCaughtUp,
    startAt: startAt === undefined ? null : new Timestamp(startAt),
    stages: options.pipeline === undefined ? [] : readStages(options.pipeline, EJSON),
    fullDocument: options.fullDocument,
    batchSize: options.batchSize,
    maxTimeMs: options.maxTimeMs,
  };
}

function readStages(text, EJSON) {
  let stages;
  try {
    stages = EJSON.parse(text, { relaxed: false });
  } catch (error) {
    throw new UsageError(`--pipeline is not extended JSON: ${error.message}`, { cause: error });
  }
  const isStage = (stage) => Object.prototype.toString.call(stage) === '[object Object]';
  if (!Array.isArray(stages) || !stages.every(isStage)) {
    throw new UsageError('--pipeline must be an array of stages: [{"$match": {…}}]');
  }
  return stages;
}

function positive(text) {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number)))
    throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}

function operationTime(text) {
  const [, seconds, increment = '1'] = /^(\d{1,10})(?::(\d{1,10}))?$/.exec(text) ?? [];
  if (seconds === undefined) throw new InvalidArgumentError('It must be seconds, or seconds:increment.');
  return { t: Number(seconds), i: Number(increment) };
}
