// The options that spread a run over several processes.
import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../errors.mjs';
import { wholeNumber } from '../whole-number.mjs';

const MAX_WORKERS = 64;

/** Adds them to a command. */
export function addWorkerOptions(command) {
  command.optionsGroup('Several processes:');
  return command
    .option(
      '--workers <count>',
      'processes: one reads and converts, the others apply; 1: one does all',
      workerCount,
      1,
    )
    .addOption(
      new Option('--messages <format>', 'how rows cross between them (default: "messagepack")').choices([
        'messagepack',
        'json',
      ]),
    );
}

/** @returns {{ appliers: number, format: 'messagepack' | 'json' } | null} `null`: one process does all */
export function readWorkerOptions({ workers, messages }) {
  if (workers > 1) return { appliers: workers - 1, format: messages ?? 'messagepack' };
  if (messages !== undefined) throw new UsageError('--messages is for --workers 2 and more');
  return null;
}

function workerCount(text) {
  const count = wholeNumber(text);
  if (count > MAX_WORKERS) throw new InvalidArgumentError(`It must be ${MAX_WORKERS} at most.`);
  return count;
}
