const { isMissing } = require('./is-missing.js');
const { platformName } = require('./platform.js');

/**
 * The exports of the Rust addon; see src/binding.rs.
 * @typedef {object} Native
 * @property {(builders: object) => number} createBuilders
 * @property {(builders: number, mode: number, isStrict: boolean, wantsUpdateDescription: boolean,
 *   isZeroCopy: boolean, isLazyJson: boolean, columns?: string[], paths?: string[]) => NativeConverter} createConverter
 * @property {(source: Uint8Array, start: number, rest: number) => string} readJson
 * @property {(source: Uint8Array, path: string, isValue: boolean, mode: number) => any} jsonExtract
 * @property {(bytes: Uint8Array, mode: number, builders: number) => any} bufferToSqlite
 * @property {(bytes: Uint8Array, builders: number) => { id: any, idBuffer: Uint8Array }} parseDocumentId
 * @property {(event: Uint8Array, builders: number) => any} parseChangeDocument
 */

/**
 * @typedef {object} NativeConverter
 * @property {(source: Uint8Array) => { row: import('../index.js').SqliteRow, replicaId: any }} convertRow
 * @property {(event: Uint8Array) => import('../index.js').Change} convertChange
 * @property {(cursor: Uint8Array, kind: number, returnsErrors: boolean) => any} convertBatch
 * @property {(buffers: readonly Uint8Array[], returnsErrors: boolean) => any[]} convertDocuments
 * @property {(source: Uint8Array | readonly Uint8Array[], kind: number, isBatch: boolean, isTable: boolean,
 *   returnsErrors: boolean) => Buffer} toMessagePack
 * @property {(cursor: Uint8Array, kind: number, returnsErrors: boolean, onRead: () => void) => NativeJob} startBatch
 * @property {(buffers: readonly Uint8Array[], returnsErrors: boolean, onRead: () => void) => NativeJob} startDocuments
 */

/**
 * A batch that another thread reads; when it has, the addon calls `onRead`. See src/job.rs.
 * @typedef {object} NativeJob
 * @property {(results: any[]) => any} makeReply
 * @property {(results: any[], milliseconds: number) => boolean} makeSome whether all objects are made
 * @property {() => void} abort lets the reading end early
 * @property {() => void} end lets the sources go
 */

/**
 * Loads the addon: the one in this package's own tree, where it was built or packed, else the platform package.
 * @returns {Native}
 */
function load() {
  const platform = platformName();
  try {
    return require(`../npm/${platform}/bsonrow.node`);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    return require(`bsonrow-${platform}`);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(
      `bsonrow has no addon for ${platform}: install the package bsonrow-${platform} of the same version, ` +
        'or build it from source (npm run build in a clone)',
      { cause: error },
    );
  }
}

module.exports = load();
