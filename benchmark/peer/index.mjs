// The oracle: the TypeScript converter that the service publishes on npm, run as a black box.
// `ensurePeer()` of install.mjs must have run before this module is imported.
import { BSON } from 'mongodb';
import {
  DirectSourceRowConverter,
  LegacySourceRowConverter,
} from './node_modules/@powersync/service-module-mongodb/dist/replication/SourceRowConverter.js';
import {
  CompatibilityContext,
  CompatibilityEdition,
  CompatibilityOption,
  TimeValuePrecision,
} from './node_modules/@powersync/service-sync-rules/dist/index.js';

export {
  bufferToSqlite,
  getDateRenderMode,
  parseDocumentId,
} from './node_modules/@powersync/service-module-mongodb/dist/replication/bufferToSqlite.js';
export {
  CompatibilityContext,
  CompatibilityEdition,
  CompatibilityOption,
  DirectSourceRowConverter,
  LegacySourceRowConverter,
  TimeValuePrecision,
};

/** The BSON implementation of the peer: the classes of its `replicaId`s. */
export const bson = BSON;

/** The service's own compatibility contexts, by date render mode. */
const contexts = [
  new CompatibilityContext({ edition: CompatibilityEdition.LEGACY }),
  new CompatibilityContext({ edition: CompatibilityEdition.SYNC_STREAMS }),
  new CompatibilityContext({
    edition: CompatibilityEdition.SYNC_STREAMS,
    maxTimeValuePrecision: TimeValuePrecision.seconds,
  }),
];

/**
 * The compatibility context that a date render mode stands for.
 * @param {0 | 1 | 2} mode
 */
export function contextFor(mode) {
  const context = contexts[mode];
  if (context === undefined) throw new TypeError(`mode must be 0, 1 or 2, not ${mode}`);
  return context;
}

const changeStream = await loadChangeStream();

/** Undefined where the running Node.js cannot load it: `parseChangeDocumentMissing` says why. */
export const parseChangeDocument = changeStream.parseChangeDocument;
export const parseChangeDocumentMissing = changeStream.missing;

async function loadChangeStream() {
  try {
    return await import(
      './node_modules/@powersync/service-module-mongodb/dist/replication/RawChangeStream.js'
    );
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { missing: `Node.js ${process.version} cannot read its syntax, Node.js 24 can` };
  }
}
