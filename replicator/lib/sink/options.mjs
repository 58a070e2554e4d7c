// The options that say how a sink is written to.
import { Option } from 'commander';
import { DEFAULT_LIMITS } from '../apply.mjs';
import { DEFAULT_RETRY } from '../backoff.mjs';
import { MIB } from '../units.mjs';
import { wholeNumber, wholeNumberOrZero } from '../whole-number.mjs';
import { isPostgresAddress } from './address.mjs';

/** Adds them to a command. */
export function addSinkOptions(command) {
  return command
    .option('-b, --batch-rows <rows>', 'changes in a transaction', wholeNumber, DEFAULT_LIMITS.rows)
    .option('--batch-bytes <MiB>', 'BSON in a transaction', wholeNumber, DEFAULT_LIMITS.bytes / MIB)
    .option(
      '--batch-seconds <s>',
      'time until a transaction is closed',
      wholeNumber,
      DEFAULT_LIMITS.milliseconds / 1000,
    )
    .option(
      '--retries <count>',
      'attempts to have a connection again that is lost, or was not to be had at the start; 0: none',
      wholeNumberOrZero,
      DEFAULT_RETRY.retries,
    )
    .option(
      '--retry-delay <ms>',
      'wait before the first attempt; doubled each time, up to 15 s',
      wholeNumber,
      DEFAULT_RETRY.retryDelay,
    )
    .addOption(
      new Option('--on-error <action>', 'what cannot be converted or stored')
        .choices(['stop', 'skip'])
        .default('stop'),
    )
    .option(
      '--skip-log <file>',
      'where --on-error skip writes what it leaves out (default: <SQLite file>.skipped.jsonl, else skipped.jsonl)',
    );
}

/** @returns {import('../apply.mjs').BatchLimits} */
export function batchLimits({ batchRows, batchBytes, batchSeconds }) {
  return { rows: batchRows, bytes: batchBytes * MIB, milliseconds: batchSeconds * 1000 };
}

export function skipLogFile({ skipLog, into }) {
  return skipLog ?? (isPostgresAddress(into) ? 'skipped.jsonl' : `${into}.skipped.jsonl`);
}
