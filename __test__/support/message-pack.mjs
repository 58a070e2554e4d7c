/** Two MessagePack libraries, which decode messages in both layouts, and how what they give is compared. */
import { Decoder, ExtensionCodec } from '@msgpack/msgpack';
import { addExtension, unpack } from 'msgpackr';
import { expect } from 'vitest';
import { fromMessagePackTable, messagePackExtensions } from '../../index.js';
import { expectSame } from './outcome.mjs';

/** msgpackr's extensions are the whole process's. @param {object} bson whose classes are decoded to */
function msgpackr(bson) {
  const extensions = messagePackExtensions({ bson });
  return (message) => {
    for (const { type, decode } of extensions) addExtension({ type, unpack: decode });
    return unpack(message);
  };
}

/** @param {object} bson whose classes are decoded to */
function msgpackJavascript(bson) {
  const extensionCodec = new ExtensionCodec();
  for (const { type, decode } of messagePackExtensions({ bson })) {
    extensionCodec.register({ type, decode, encode: () => null });
  }
  const decoder = new Decoder({ extensionCodec, useBigInt64: true });
  return (message) => decoder.decode(message);
}

/** By name, how each library decodes a message. */
export const decodersOf = (bson) => ({
  msgpackr: msgpackr(bson),
  '@msgpack/msgpack': msgpackJavascript(bson),
});

/** What a message of each layout is decoded to: objects, wherever there are lists of them. */
export const LAYOUTS = {
  maps: (decoded) => decoded,
  table: (decoded) => {
    if (Array.isArray(decoded)) return fromMessagePackTable(decoded);
    const name = 'changes' in decoded ? 'changes' : 'documents';
    return { ...decoded, [name]: fromMessagePackTable(decoded[name]) };
  },
};

/** Bytes are decoded to Buffers or to plain arrays, by the library: all are made plain, everywhere in a value. */
function withPlainBytes(value) {
  if (ArrayBuffer.isView(value)) return Uint8Array.from(value);
  if (Array.isArray(value)) return value.map(withPlainBytes);
  if (typeof value !== 'object' || value === null) return value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withPlainBytes(inner)]));
}

/** The names of all objects in a value, in their order. */
function namesOf(value) {
  if (Array.isArray(value)) return value.map(namesOf);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return null;
  return Object.entries(value).map(([name, inner]) => [name, namesOf(inner)]);
}

/** Expects what was decoded to be a value of the JavaScript interface, with all names in the same order. */
export function expectDecoded(decoded, expected, message) {
  const [actual, wanted] = [decoded, expected].map(withPlainBytes);
  expectSame(actual, wanted, message);
  expect(namesOf(actual), message).toEqual(namesOf(wanted));
}
