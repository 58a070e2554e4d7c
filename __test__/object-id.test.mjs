/** `replicaId` as an ObjectId: one of the caller's bson, whose hexadecimal text nobody made yet. */
import * as bson6 from 'bson';
import * as bson7 from 'bson7';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NativeSourceRowConverter, parseChangeDocument, parseDocumentId } from '../index.js';

const HEX = '66e834cc91d805df11fa0ecb';

afterEach(() => {
  vi.restoreAllMocks();
});

/** All ways to an identity, each with the ObjectId in it. */
function identitiesOf(bson) {
  const converter = new NativeSourceRowConverter(0, { bson });
  const id = new bson.ObjectId(HEX);
  const source = Buffer.from(bson.serialize({ _id: id, ids: [id] }));
  const compound = Buffer.from(bson.serialize({ _id: { tenant: 1, id } }));
  // More than pass beside a row's values: the deserialiser makes them.
  const many = Buffer.from(
    bson.serialize({
      _id: Object.fromEntries(
        Array(40)
          .fill()
          .map((_, n) => [`k${n}`, id]),
      ),
    }),
  );
  const event = { operationType: 'insert', documentKey: { _id: id }, fullDocument: { _id: id } };
  const change = Buffer.from(bson.serialize(event));
  const reply = Buffer.from(bson.serialize({ nextBatch: [event], id: 1n, ns: 'a.b' }));
  return {
    rawToSqliteRow: () => converter.rawToSqliteRow(source).replicaId,
    'rawToSqliteRow, in a document': () => converter.rawToSqliteRow(compound).replicaId.id,
    'rawToSqliteRow, one of many': () => converter.rawToSqliteRow(many).replicaId.k39,
    convertDocuments: () => converter.convertDocuments([source])[0].replicaId,
    convertChange: () => converter.convertChange(change).replicaId,
    convertBatch: () => converter.convertBatch(reply, { as: 'changes' }).changes[0].replicaId,
    parseDocumentId: () => parseDocumentId(source, { bson }).id,
    parseChangeDocument: () => parseChangeDocument(change, { bson }).documentKey._id,
  };
}

describe.each([
  ['bson 6', bson6],
  ['bson 7', bson7],
])('with %s', (_, bson) => {
  const { ObjectId } = bson;
  const ways = Object.entries(identitiesOf(bson));
  afterEach(() => {
    ObjectId.cacheHexString = false;
  });

  it.each(ways)('%s makes no hexadecimal text', (_, identity) => {
    const spies = [
      vi.spyOn(ObjectId.prototype, 'toHexString'),
      vi.spyOn(ObjectId, 'createFromHexString'),
      // Asked for each hexadecimal text that an ObjectId is made of.
      vi.spyOn(ObjectId, 'validateHexString'),
    ];
    const id = identity();
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    expect(Object.getPrototypeOf(id)).toBe(ObjectId.prototype);
    expect(id.toHexString()).toBe(HEX);
    expect(spies[0]).toHaveBeenCalledOnce();
  });

  it.each(ways)('%s leaves it to cacheHexString whether the text is kept, as bson does', (_, identity) => {
    for (const cacheHexString of [false, true]) {
      ObjectId.cacheHexString = cacheHexString;
      const id = identity();
      const { _id: expected } = bson.deserialize(bson.serialize({ _id: new ObjectId(HEX) }));
      expect([id.isCached(), expected.isCached()]).toEqual([false, false]);
      expect([id.toHexString(), expected.toHexString()]).toEqual([HEX, HEX]);
      expect([id.isCached(), expected.isCached()]).toEqual([cacheHexString, cacheHexString]);
    }
  });
});
