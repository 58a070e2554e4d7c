// What is asked of the server once: its abilities, its time, the beginning of a change stream.
import { InputError } from '../../errors.mjs';
import { collectionOf } from '../../namespace.mjs';
import { openChangeStream } from './pipeline.mjs';

/** The first version of which every release has `$changeStreamSplitLargeEvent`. */
const SPLITTING_VERSION = 7;

/** @param {import('./connection.mjs').Connection} connection */
export async function splitsEvents(connection) {
  const { versionArray } = await connection.command('admin', { buildInfo: 1 }, false);
  return versionArray[0] >= SPLITTING_VERSION;
}

/** The server's time; `null` where it keeps none. */
export async function currentTime(connection) {
  const { operationTime } = await connection.command('admin', { ping: 1 }, false);
  return operationTime ?? null;
}

/**
 * The present end of the stream: what happens from now on comes behind it.
 * @param {import('./connection.mjs').Connection} connection
 * @param {import('./pipeline.mjs').StreamRequest} request
 * @returns {Promise<object>} `resumeAfter` or `startAtOperationTime`
 */
export async function findStart(connection, request) {
  const { database, command } = openChangeStream(request, {}, 0);
  const { cursor, operationTime } = await connection.command(database, command, false);
  const { id, ns, postBatchResumeToken: token } = cursor;
  if (String(id) !== '0') {
    await connection.farewell(database, { killCursors: collectionOf(ns), cursors: [id] });
  }
  if (token !== undefined) return { resumeAfter: token };
  if (operationTime !== undefined) return { startAtOperationTime: operationTime };
  throw new InputError(
    database,
    null,
    'the server does not say where its change stream stands: name a beginning by --start-at',
  );
}
