/** Options by a name that none has: refused by whatever takes options, as one that does nothing goes unseen. */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import {
  jsonExtract,
  messagePackExtensions,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from '../index.js';
import { withId } from './support/bson-bytes.mjs';
import { batchOf, cursorReply } from './support/replies.mjs';

const bson = createRequire(import.meta.url)('bson');
const converter = new NativeSourceRowConverter(0);
const source = withId();
const reply = cursorReply(batchOf([source]));
const { signal } = new AbortController();

/** Of each that takes options: the call, and all options with a right value. */
const TAKERS = {
  NativeSourceRowConverter: [
    (options) => new NativeSourceRowConverter(0, options),
    {
      bson,
      columns: ['_id'],
      lazyJson: true,
      strict: true,
      updateDescription: true,
      zeroCopy: true,
    },
  ],
  convertBatch: [(options) => converter.convertBatch(reply, options), { as: 'documents', onError: 'return' }],
  convertDocuments: [(options) => converter.convertDocuments([source], options), { onError: 'return' }],
  convertBatchAsync: [
    (options) => converter.convertBatchAsync(reply, options),
    { as: 'documents', onError: 'return', signal },
  ],
  convertDocumentsAsync: [
    (options) => converter.convertDocumentsAsync([source], options),
    { onError: 'return', signal },
  ],
  toMessagePack: [
    (options) => converter.toMessagePack(options.of === 'batch' ? reply : source, options),
    { as: 'documents', layout: 'table', of: 'batch', onError: 'return' },
  ],
  messagePackExtensions: [messagePackExtensions, { bson }],
  parseDocumentId: [(options) => parseDocumentId(source, options), { bson }],
  parseChangeDocument: [(options) => parseChangeDocument(source, options), { bson }],
  jsonExtract: [(options) => jsonExtract(source, '$', options), { as: 'json', mode: 0 }],
};
const ALL = Object.keys(Object.assign({}, ...Object.values(TAKERS).map(([, options]) => options)));

/** What comes of a call, at once or later. */
const outcome = async (call) => call();

for (const [name, [call, options]] of Object.entries(TAKERS)) {
  describe(name, () => {
    it('takes its own, each undefined, too', async () => {
      await outcome(() => call(options));
      await outcome(() => call(Object.fromEntries(Object.keys(options).map((each) => [each, undefined]))));
    });
    const others = ALL.filter((each) => !Object.hasOwn(options, each));
    it.each(['onerror', 'Bson', '0', '', '__proto__', 'constructor', ...others])(
      'refuses %j',
      async (other) => {
        for (const value of ['return', undefined]) {
          const wrong = Object.defineProperty({ ...options }, other, { value, enumerable: true });
          await expect(outcome(() => call(wrong))).rejects.toMatchObject({
            constructor: TypeError,
            code: 'BSONROW_INVALID_ARGUMENT',
            message: `options.${other} is not an option (known: ${Object.keys(options).join(', ')})`,
          });
        }
      },
    );
  });
}

describe('functions that an array is mapped by', () => {
  it('take the index that comes with each element for no options', () => {
    const sources = [1, 2].map((_id) => bson.serialize({ _id }));
    expect(sources.map(parseDocumentId).map(({ id }) => id)).toEqual([1, 2]);
    expect(sources.map(parseChangeDocument)).toEqual([{ _id: 1 }, { _id: 2 }]);
  });
});

describe('names of kinds', () => {
  it('are strings, not what becomes one', () => {
    for (const as of [['auto'], new String('auto')]) {
      expect(() => converter.convertBatch(reply, { as })).toThrow(/^options\.as must be /);
      expect(() => converter.toMessagePack(source, { of: as })).toThrow(/^options\.of must be /);
    }
  });
});
