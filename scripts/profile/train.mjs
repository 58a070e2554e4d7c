// Converts what inputs.mjs has in all ways there are, so that the addon counts what runs how often.
import { batchOf, cursorReply } from '../../__test__/support/replies.mjs';
import {
  bufferToSqlite,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from '../../index.js';
import { documents, events } from './inputs.mjs';

/** How much of each list is converted each way: as many rounds as make one of the two. */
const DOCUMENTS = 2000;
const BYTES = 4_000_000;

/** A converter of options. */
const by = (options = {}, mode = 1) => new NativeSourceRowConverter(mode, options);
const converters = [by(), by({}, 0), by({}, 2), by({ zeroCopy: true }), by({ strict: true })];
const [converter] = converters;
const described = by({ updateDescription: true });
const lazy = by({ lazyJson: true });
const selecting = by({ columns: ['_id', 'name', 'email', 'title'] });
const following = by({ columns: { id: '_id', city: 'address.city', body: 'message.body' } });

/** Some sources are malformed on purpose, and bson refuses more. */
function attempt(convert, source) {
  try {
    convert(source);
  } catch (error) {
    expectRefusal(error);
  }
}

function expectRefusal(error) {
  if (!error.code?.startsWith('BSONROW_') && error.name !== 'BSONError') throw error;
}

function roundsOf(sources) {
  const bytes = sources.reduce((sum, { length }) => sum + length, 0);
  return Math.ceil(Math.min(DOCUMENTS / sources.length, BYTES / bytes));
}

function repeat(sources, ...conversions) {
  for (let rounds = roundsOf(sources); rounds > 0; rounds--) {
    for (const convert of conversions) for (const source of sources) attempt(convert, source);
  }
}

for (const sources of Object.values(documents)) {
  repeat(
    sources,
    ...converters.map((each) => (source) => each.rawToSqliteRow(source)),
    (source) => selecting.rawToSqliteRow(source),
    (source) => following.rawToSqliteRow(source),
    (source) => lazy.rawToSqliteRow(source),
    (source) => Object.values(lazy.rawToSqliteRow(source).row),
    (source) => bufferToSqlite(source, 1),
    parseDocumentId,
    (source) => converter.toMessagePack(source),
  );
}

for (const sources of Object.values(events)) {
  repeat(
    sources,
    ...converters.map((each) => (event) => each.convertChange(event)),
    (event) => described.convertChange(event),
    (event) => converter.rawToSqliteRow(parseChangeDocument(event).fullDocument),
    (event) => converter.toMessagePack(event, { of: 'change' }),
  );
}

/** Batches, on this thread and on others. */
async function repeatBatches(sources, isChangeStream) {
  const reply = cursorReply(batchOf(sources), { isChangeStream });
  const options = { onError: 'return' };
  for (let rounds = roundsOf(sources); rounds > 0; rounds--) {
    attempt((source) => converter.convertBatch(source, options), reply);
    await converter.convertBatchAsync(reply, options).catch(expectRefusal);
    for (const layout of ['maps', 'table']) {
      attempt((source) => converter.toMessagePack(source, { ...options, of: 'batch', layout }), reply);
    }
    if (isChangeStream) continue;
    converter.convertDocuments(sources, options);
    await converter.convertDocumentsAsync(sources, options);
  }
}

for (const sources of Object.values(documents)) await repeatBatches(sources, false);
for (const sources of Object.values(events)) await repeatBatches(sources, true);
