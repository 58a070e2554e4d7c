// From the command's arguments to a run on a live source.
import { UsageError } from '../../errors.mjs';
import { parseAddress } from './address.mjs';
import { Connection } from './connection.mjs';
import { LiveRun } from './live-run.mjs';
import { readLiveOptions } from './options.mjs';
import { LiveProgress } from './progress.mjs';
import { selectCollections } from './selection.mjs';

/**
 * Nothing is sent to the server yet.
 * @param {string[]} paths the arguments
 * @param {Record<string, any>} options of commander
 * @param {typeof import('mongodb')} driver
 * @param {{ onWarning: (message: string) => void, signal: AbortSignal }} context
 */
export function openLiveSource(paths, options, driver, { onWarning, signal }) {
  if (paths.length > 1) throw new UsageError('a server is replicated alone: give one address and no files');
  const bson = driver.BSON;
  const address = parseAddress(paths[0]);
  const selection = selectCollections(options.collection ?? [], address.database, options.watch);
  const liveOptions = readLiveOptions(options, bson);
  const connection = new Connection(driver, address, signal);
  return {
    /**
     * @param {import('../../sink/sink.mjs').Sink} sink
     * @param {object} common the options of LiveRun that are not a live source's own
     * @param {NodeJS.WritableStream | null} stream where progress is shown
     */
    makeRun(sink, common, stream) {
      const parts = { connection, bson, address, sink, progress: new LiveProgress(stream) };
      return new LiveRun(parts, { ...common, ...liveOptions, selection, onWarning, signal });
    },
    close: () => connection.close(),
  };
}
