// Arguments that would be taken for something else, or for nothing at all.
import { UsageError } from './errors.mjs';
import { isPostgresAddress } from './sink/address.mjs';
import { isMongoAddress } from './source/mongodb/address.mjs';
import { isLiveOption } from './source/mongodb/options.mjs';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const FILE_OPTIONS = new Set(['format']);

/**
 * @param {import('commander').Command} command parsed
 * @throws UsageError
 */
export function checkArguments(command) {
  // An address of another kind would be taken for the path of a file.
  const schemeOf = (text) => SCHEME.exec(text)?.[0];
  for (const path of command.args) {
    if (path === '') throw new UsageError('a path is empty');
    if (!isMongoAddress(path) && SCHEME.test(path))
      throw new UsageError(`files are read, or mongodb://…, not ${schemeOf(path)}…`);
  }
  const { into, onError, skipLog } = command.opts();
  // To SQLite these are databases that nobody sees, or of another name.
  if (into === '') throw new UsageError('--into is empty');
  if (into.startsWith(':memory:'))
    throw new UsageError('--into takes a file: one in memory ends with the run');
  if (/^file:/i.test(into)) throw new UsageError(`--into takes the path of a file, not ${into}`);
  if (!isPostgresAddress(into) && SCHEME.test(into))
    throw new UsageError(`--into takes an SQLite file or postgres://…, not ${schemeOf(into)}…`);

  if (skipLog !== undefined && onError !== 'skip')
    throw new UsageError('--skip-log is for --on-error skip only');

  const isLive = command.args.some(isMongoAddress);
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli') continue;
    if (isLive && FILE_OPTIONS.has(name)) throw new UsageError(`${option.long} is for files only`);
    if (!isLive && isLiveOption(name))
      throw new UsageError(`${option.long} is for a live source (mongodb://…) only`);
  }
}
