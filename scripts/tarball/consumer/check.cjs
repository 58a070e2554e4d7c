// What a project sees of the package: a document of common types, its row and its identity.
const assert = require('node:assert');

exports.check = ({ NativeSourceRowConverter, bufferToSqlite, DateRenderMode, parseDocumentId }, bson) => {
  const { Binary, Decimal128, Double, Long, ObjectId, UUID } = bson;
  const id = new ObjectId('66e834cc91d805df11fa0ecb');
  const uuid = new UUID('baeb1003-7a11-4d4f-a8b0-3a4c4e8f1c11');
  const source = bson.serialize({
    _id: id,
    int: 7,
    long: Long.fromString('9007199254740993'),
    double: new Double(1.5),
    text: 'Żółć 🔔',
    yes: true,
    nothing: null,
    date: new Date(1_678_110_420_000),
    decimal: Decimal128.fromString('1.50'),
    uuid,
    bytes: new Binary(Uint8Array.of(1, 2, 3)),
    nested: { list: [1, 'a"b', { id }], uuid, no: false },
  });
  const row = {
    _id: '66e834cc91d805df11fa0ecb',
    int: 7n,
    long: 9007199254740993n,
    double: 1.5,
    text: 'Żółć 🔔',
    yes: 1n,
    nothing: null,
    date: '2023-03-06T13:47:00.000Z',
    decimal: '1.50',
    uuid: 'baeb1003-7a11-4d4f-a8b0-3a4c4e8f1c11',
    bytes: Uint8Array.of(1, 2, 3),
    nested:
      '{"list":[1,"a\\"b",{"id":"66e834cc91d805df11fa0ecb"}],' +
      '"uuid":"baeb1003-7a11-4d4f-a8b0-3a4c4e8f1c11","no":0}',
  };
  const mode = DateRenderMode.ISO_MILLISECONDS;
  const result = new NativeSourceRowConverter(mode, { bson }).rawToSqliteRow(source);
  assert.deepStrictEqual(result, { row, replicaId: id });
  assert.ok(result.replicaId instanceof ObjectId);
  assert.deepStrictEqual(bufferToSqlite(source, mode), row);
  assert.deepStrictEqual(parseDocumentId(source, { bson }).id, id);
};
