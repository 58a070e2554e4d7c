// What a replica must hold, computed without the addon: documents deserialised by js-bson, rows by the type table
// written out plainly here, the end of a capture by following its events one by one.
import { deserialize, EJSON } from 'bson';

const LOSSLESS = {
  promoteValues: false,
  promoteBuffers: false,
  bsonRegExp: true,
  validation: { utf8: false },
};
const MAX_DEPTH = 20;

export function parse(bytes) {
  return deserialize(bytes, LOSSLESS);
}

/** Cuts good bytes into documents. */
export function splitDocuments(bytes) {
  const documents = [];
  for (let offset = 0; offset < bytes.length; ) {
    const length = bytes.readInt32LE(offset);
    documents.push({ bytes: bytes.subarray(offset, offset + length), offset });
    offset += length;
  }
  return documents;
}

/** A document as the row that SQLite must give back: elements whose column is NULL are left out. */
export function expectedRow(document) {
  const row = {};
  for (const [name, value] of entriesOf(document)) {
    const stored = columnOf(value);
    if (stored !== null) Object.defineProperty(row, name, { value: stored, enumerable: true });
  }
  return row;
}

/** Text that is equal for equal `_id`s of the documents in the data, where no two differ by numeric type only. */
export function idText(id) {
  return EJSON.stringify({ id }, { relaxed: false });
}

/**
 * The collections after all events: namespace → id text → row.
 * @param {object[]} events parsed by `parse`
 */
export function finalState(events) {
  const state = new Map();
  const collection = (namespace) => {
    if (!state.has(namespace)) state.set(namespace, new Map());
    return state.get(namespace);
  };
  for (const event of wholeEvents(events)) {
    const namespace = event.ns?.coll === undefined ? null : `${event.ns.db}.${event.ns.coll}`;
    if (event.operationType === 'drop') {
      state.delete(namespace);
    } else if (event.operationType === 'dropDatabase') {
      for (const name of [...state.keys()]) if (name.startsWith(`${event.ns.db}.`)) state.delete(name);
    } else if (event.operationType === 'rename') {
      const rows = state.get(namespace);
      state.delete(namespace);
      state.delete(`${event.to.db}.${event.to.coll}`);
      if (rows !== undefined) state.set(`${event.to.db}.${event.to.coll}`, rows);
    } else if (['insert', 'update', 'replace'].includes(event.operationType) && event.fullDocument) {
      collection(namespace).set(idText(event.fullDocument._id), expectedRow(event.fullDocument));
    } else if (event.operationType === 'delete' || event.fullDocument === null) {
      state.get(namespace)?.delete(idText(event.documentKey._id));
    }
  }
  return state;
}

/** Events that were split into fragments, which all came, as one each. */
function* wholeEvents(events) {
  let fragments = [];
  for (const event of events) {
    if (event.splitEvent === undefined) {
      yield event;
      continue;
    }
    fragments.push(event);
    if (fragments.length < Number(event.splitEvent.of)) continue;
    const { splitEvent, ...whole } = Object.assign({}, ...fragments);
    fragments = [];
    yield whole;
  }
}

function columnOf(value) {
  switch (typeOf(value)) {
    case 'Double': {
      const number = value.value;
      if (!Number.isFinite(number)) return Number.isNaN(number) ? null : number;
      return Number.isInteger(number) ? storedInteger(BigInt(number)) : number;
    }
    case 'Int32':
      return BigInt(value.value);
    case 'Long':
      return value.toBigInt();
    case 'Timestamp':
      return storedInteger((BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0));
    case 'boolean':
      return value ? 1n : 0n;
    case 'string':
      return value;
    case 'Date':
    case 'ObjectId':
    case 'Decimal128':
      return plainText(value);
    case 'Binary':
      return isUuid(value)
        ? plainText(value)
        : Buffer.from(value.buffer.subarray(0, value.position)).toString('hex');
    case 'BSONSymbol':
      return value.valueOf();
    case 'null':
    case 'undefined':
      return null;
    default:
      return json(value, 0);
  }
}

function storedInteger(integer) {
  return BigInt.asIntN(64, integer) === integer ? integer : String(integer);
}

function plainText(value) {
  if (typeOf(value) === 'Date') return value.toISOString();
  if (typeOf(value) !== 'Binary') return value.toString();
  const hex = Buffer.from(value.buffer.subarray(0, 16)).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** JSON text; `undefined` for what objects leave out. */
function json(value, depth) {
  switch (typeOf(value)) {
    case 'undefined':
      return undefined;
    case 'null':
      return 'null';
    case 'Double':
      return Number.isFinite(value.value) ? String(value.value) : 'null';
    case 'Int32':
      return String(value.value);
    case 'Long':
      return value.toString();
    case 'Timestamp':
      return String((BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0));
    case 'boolean':
      return value ? '1' : '0';
    case 'string':
    case 'BSONSymbol':
      return JSON.stringify(value.valueOf());
    case 'Date':
    case 'ObjectId':
    case 'Decimal128':
      return `"${plainText(value)}"`;
    case 'Binary':
      return isUuid(value) ? `"${plainText(value)}"` : undefined;
    case 'BSONRegExp':
      return JSON.stringify({ pattern: value.pattern, options: value.options });
    case 'Code':
      return `{"code":${JSON.stringify(value.code)},"scope":${value.scope === null ? 'null' : json(value.scope, depth)}}`;
    default:
      return container(value, depth);
  }
}

function container(value, depth) {
  if (depth > MAX_DEPTH) throw new Error('too deep');
  if (Array.isArray(value)) return `[${value.map((item) => json(item, depth + 1) ?? 'null').join(',')}]`;
  const members = entriesOf(value)
    .map(([name, item]) => [name, json(item, depth + 1)])
    .filter(([, text]) => text !== undefined);
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

function entriesOf(document) {
  if (document._bsontype !== 'DBRef') return Object.entries(document);
  const { collection, oid, db, fields } = document;
  return Object.entries({ $ref: collection, $id: oid, ...(db === undefined ? {} : { $db: db }), ...fields });
}

/** MinKey and MaxKey are null wherever they stand; so is undefined as a column. */
function typeOf(value) {
  if (value === null || value?._bsontype === 'MinKey' || value?._bsontype === 'MaxKey') return 'null';
  if (typeof value !== 'object') return typeof value;
  if (value instanceof Date) return 'Date';
  return value._bsontype ?? 'document';
}

function isUuid(binary) {
  return binary.sub_type === 4 && binary.position === 16;
}
