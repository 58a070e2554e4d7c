// How changes cross from one process to another.

/**
 * @typedef {object} MessageFormat
 * @property {(changes: import('../../changes.mjs').Change[]) => Uint8Array[]} encode
 * @property {(message: Buffer) => import('../../changes.mjs').Change[]} decode
 */

const LOADERS = {
  messagepack: () => import('./message-pack.mjs'),
  json: () => import('./json.mjs'),
};

/**
 * Only the one that is used is loaded.
 * @param {'messagepack' | 'json'} name
 * @returns {Promise<MessageFormat>}
 */
export const loadFormat = (name) => LOADERS[name]();
