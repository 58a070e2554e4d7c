/** Every document of the data folder against the oracle: rows, identities and change events. */
import { createRequire } from 'node:module';
import * as bson7 from 'bson7';
import { expect, it } from 'vitest';
import {
  bufferToSqlite,
  DateRenderMode,
  NativeSourceRowConverter,
  parseChangeDocument,
  parseDocumentId,
} from '../index.js';
import { dataMissing, listFiles, readBytes, splitDocuments } from './support/data.mjs';
import { dataEvents } from './support/events.mjs';
import { refusal } from './support/model.mjs';
import { attempt, expectBsonRowError, expectRow, expectSame, withoutProto } from './support/outcome.mjs';
import { changeStreamMissing, oracles, peer, peerMissing } from './support/peer.mjs';
import { describeUnless } from './support/skip.mjs';

const MODES = Object.values(DateRenderMode);
const bson6 = createRequire(import.meta.url)('bson');
const files = listFiles('.', '.bson', '.bson.gz', '.archive');
const DESERIALIZE = { useBigInt64: true };

/** Converters whose identities have the classes of the oracle's bson, of bson 6 and of bson 7. */
const convertersOf = (bson) => MODES.map((mode) => new NativeSourceRowConverter(mode, { bson }));
const likeOracle = peer ? convertersOf(peer.bson) : [];
const byDefault = new NativeSourceRowConverter(0);
const onBson7 = new NativeSourceRowConverter(0, { bson: bson7 });

function expectRows(bytes, label) {
  for (const mode of MODES) {
    const oracle = attempt(() => peer.bufferToSqlite(bytes, mode));
    const { value, error } = attempt(() => bufferToSqlite(bytes, mode));
    if (oracle.error) expect(error?.message, label).toBe(oracle.error.message);
    else if (error) throw error;
    else expectRow(withoutProto(value), oracle.value, label);
  }
}

function expectIdentities(bytes, label) {
  for (const mode of MODES) {
    const oracle = attempt(() => oracles[mode].rawToSqliteRow(bytes));
    const { value, error } = attempt(() => likeOracle[mode].rawToSqliteRow(bytes));
    if (oracle.error) {
      expect(error?.message, label).toBe(oracle.error.message);
      continue;
    }
    if (error) throw error;
    expectRow(withoutProto(value.row), oracle.value.row, label);
    expectSame(value.replicaId, oracle.value.replicaId, label);
  }
}

/** The identity in the classes of another bson: as that bson reads the oracle's `idBuffer`. */
function expectClassesOf(bson, converter, bytes, label) {
  const { idBuffer } = peer.parseDocumentId(bytes);
  expectSame(converter.rawToSqliteRow(bytes).replicaId, bson.deserialize(idBuffer, DESERIALIZE)._id, label);
}

function expectDocumentId(bytes, label) {
  const expected = peer.parseDocumentId(bytes);
  const { id, idBuffer } = parseDocumentId(bytes);
  expect(Buffer.isBuffer(idBuffer) && expected.idBuffer.equals(idBuffer), label).toBe(true);
  expectSame(id, bson6.deserialize(expected.idBuffer, DESERIALIZE)._id, label);
}

describeUnless(dataMissing ?? peerMissing, 'documents', () => {
  it('are there', () => expect(files.length).toBeGreaterThan(100));

  for (const name of files) {
    it(name, () => {
      const { documents } = splitDocuments(readBytes(name));
      documents.forEach((bytes, index) => {
        const label = `${name}, document ${index}`;
        if (refusal(bytes)) {
          const { error } = attempt(() => bufferToSqlite(bytes, 0));
          expectBsonRowError(error, bytes.length, label);
          return;
        }
        expectRows(bytes, label);
        expectIdentities(bytes, label);
        if (attempt(() => oracles[0].rawToSqliteRow(bytes)).error) return;
        expectClassesOf(bson6, byDefault, bytes, label);
        expectClassesOf(bson7, onBson7, bytes, label);
        expectDocumentId(bytes, label);
      });
    });
  }
});

describeUnless(dataMissing ?? peerMissing, 'whole files as if each were one document', () => {
  for (const name of files) {
    it(name, () => {
      const bytes = readBytes(name);
      const { value, error } = attempt(() => bufferToSqlite(bytes, 0));
      if (error) expectBsonRowError(error, bytes.length, name);
      if (refusal(bytes)) {
        expect(error, refusal(bytes)).toBeDefined();
        return;
      }
      const oracle = attempt(() => peer.bufferToSqlite(bytes, 0));
      expect(error?.message, name).toBe(oracle.error?.message);
      if (value) expectRow(withoutProto(value), oracle.value, name);
    });
  }
});

describeUnless(dataMissing ?? changeStreamMissing, 'change events', () => {
  const events = dataMissing ? [] : dataEvents();

  it('are there', () => expect(events.length).toBeGreaterThan(900));

  it('parseChangeDocument gives what the oracle gives', () => {
    for (const { label, bytes } of events) expectEvent(bytes, label);
  });
});

/** Equal but for the classes, which are those of this package's bson. */
function expectEvent(bytes, label) {
  const oracle = attempt(() => peer.parseChangeDocument(bytes));
  const { value, error } = attempt(() => parseChangeDocument(bytes));
  // Among the events stand replies to commands, which have no `_id`: read here, refused by the oracle.
  if (oracle.error) {
    expect(error === undefined && '_id' in value, label).toBe(false);
    return;
  }
  if (error) throw error;
  expect(Object.keys(value), label).toEqual(Object.keys(oracle.value));
  for (const [name, expected] of Object.entries(oracle.value)) {
    if (Buffer.isBuffer(expected)) expectSame(value[name], expected, `${label} ${name}`);
    else expectSame(value[name], reread(expected), `${label} ${name}`);
  }
}

/** A value in the classes of this package's bson. */
function reread(value) {
  const bytes = peer.bson.serialize({ value }, { ignoreUndefined: false });
  return bson6.deserialize(bytes, DESERIALIZE).value;
}

describeUnless(dataMissing ?? peerMissing, 'the documents of change events', () => {
  it('convert from the view that parseChangeDocument gives', () => {
    let count = 0;
    for (const { label, bytes } of dataEvents()) {
      const { fullDocument } = parseChangeDocument(bytes);
      if (!fullDocument) continue;
      expect(fullDocument.buffer, label).toBe(bytes.buffer);
      expectRows(fullDocument, label);
      count++;
    }
    expect(count).toBeGreaterThan(500);
  });
});
