const { Buffer } = require('node:buffer');
const { buildersOf } = require('./builders.js');
const native = require('./native.js');
const { installedBson, readBson } = require('./options.js');

/** @param {Uint8Array} bytes @param {import('../index.js').DateRenderMode} mode */
function bufferToSqlite(bytes, mode) {
  const { number, finish } = buildersOf(installedBson());
  return finish(native.bufferToSqlite(bytes, mode, number), bytes);
}

/**
 * @param {Uint8Array} bytes
 * @param {Pick<import('../index.js').ConverterOptions, 'bson'>} [options]
 */
function parseDocumentId(bytes, options = {}) {
  const { number, finish } = buildersOf(readBson(options));
  const { id, idBuffer } = finish(native.parseDocumentId(bytes, number), bytes);
  return { id, idBuffer: Buffer.from(idBuffer.buffer) };
}

/**
 * @param {Uint8Array} event
 * @param {Pick<import('../index.js').ConverterOptions, 'bson'>} [options]
 */
function parseChangeDocument(event, options = {}) {
  const { number, finish } = buildersOf(readBson(options));
  return finish(native.parseChangeDocument(event, number), event);
}

module.exports = { bufferToSqlite, parseDocumentId, parseChangeDocument };
