const { Buffer } = require('node:buffer');
const { buildersOf } = require('./builders.js');
const native = require('./native.js');
const { installedBson, readOptions } = require('./options.js');

/** @param {Uint8Array} bytes @param {import('../index.js').DateRenderMode} mode */
function bufferToSqlite(bytes, mode) {
  return native.bufferToSqlite(bytes, mode, buildersOf(installedBson()));
}

/**
 * @param {Uint8Array} bytes
 * @param {Pick<import('../index.js').ConverterOptions, 'bson'>} [options]
 */
function parseDocumentId(bytes, options = {}) {
  const { id, idBuffer } = native.parseDocumentId(bytes, buildersOf(readOptions(options).bson));
  return { id, idBuffer: Buffer.from(idBuffer.buffer) };
}

/**
 * @param {Uint8Array} event
 * @param {Pick<import('../index.js').ConverterOptions, 'bson'>} [options]
 */
function parseChangeDocument(event, options = {}) {
  return native.parseChangeDocument(event, buildersOf(readOptions(options).bson));
}

module.exports = { bufferToSqlite, parseDocumentId, parseChangeDocument };
