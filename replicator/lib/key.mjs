// The key of a row: the bytes that stand for a document's `_id`.
//
// Two `_id`s have the same key exactly where MongoDB's unique index holds them for the same `_id`. So types
// stay apart (an ObjectId and its hex digits, 1 and "1", each subtype of Binary), while a number is its value:
// int32 1, int64 1, double 1.0 and decimal 1.0 are one `_id`. They must be one key, because a replacement may
// change the numeric type of a stored `_id`, and a later delete names the new type only.
//
// A key is the BSON element type, then the value: numbers in one canonical type, names and strings with their
// length before them, containers with the number of their elements.

const TYPE = {
  double: 0x01,
  string: 0x02,
  document: 0x03,
  array: 0x04,
  binary: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  boolean: 0x08,
  date: 0x09,
  null: 0x0a,
  regex: 0x0b,
  code: 0x0d,
  timestamp: 0x11,
  int64: 0x12,
  decimal128: 0x13,
  maxKey: 0x7f,
  minKey: 0xff,
};

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * @param {any} id a `replicaId`: an `_id` as `bson.deserialize(…, { useBigInt64: true })` gives it
 * @returns {Buffer}
 */
export function encodeKey(id) {
  if (id?._bsontype === 'ObjectId') {
    const key = Buffer.allocUnsafe(13);
    key[0] = TYPE.objectId;
    key.set(id.id, 1);
    return key;
  }
  const parts = [];
  pushValue(parts, id);
  return Buffer.concat(parts);
}

function pushValue(parts, value) {
  switch (typeof value) {
    case 'string':
      parts.push(Buffer.of(TYPE.string));
      pushText(parts, value);
      return;
    case 'number':
      pushDouble(parts, value);
      return;
    case 'bigint':
      pushInt64(parts, value);
      return;
    case 'boolean':
      parts.push(Buffer.of(TYPE.boolean, value ? 1 : 0));
      return;
    case 'undefined':
      parts.push(Buffer.of(TYPE.undefined));
      return;
    case 'object':
      pushObject(parts, value);
      return;
    default:
      throw new TypeError(`a value of type ${typeof value} cannot be an _id`);
  }
}

function pushObject(parts, value) {
  if (value === null) {
    parts.push(Buffer.of(TYPE.null));
  } else if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new RangeError('an _id that is a date out of range has no key');
    parts.push(Buffer.of(TYPE.date), int64Bytes(BigInt(value.getTime())));
  } else if (value instanceof RegExp) {
    pushRegex(parts, value.source, value.flags);
  } else if (Array.isArray(value)) {
    parts.push(Buffer.of(TYPE.array), uint32Bytes(value.length));
    for (const item of value) pushValue(parts, item);
  } else if (value._bsontype === undefined) {
    pushDocument(parts, value);
  } else {
    pushBsonClass(parts, value);
  }
}

function pushDocument(parts, document) {
  const entries = Object.entries(document);
  parts.push(Buffer.of(TYPE.document), uint32Bytes(entries.length));
  for (const [name, value] of entries) {
    pushText(parts, name);
    pushValue(parts, value);
  }
}

function pushBsonClass(parts, value) {
  switch (value._bsontype) {
    case 'ObjectId':
      parts.push(Buffer.of(TYPE.objectId), value.id);
      return;
    case 'Binary': {
      const data = value.buffer.subarray(0, value.position);
      parts.push(Buffer.of(TYPE.binary, value.sub_type), uint32Bytes(data.length), data);
      return;
    }
    case 'Decimal128':
      pushDecimal(parts, value.toString());
      return;
    case 'Int32':
    case 'Double':
      pushDouble(parts, value.valueOf());
      return;
    case 'Long':
      pushInt64(parts, value.toBigInt());
      return;
    case 'Timestamp':
      parts.push(Buffer.of(TYPE.timestamp), uint32Bytes(value.low >>> 0), uint32Bytes(value.high >>> 0));
      return;
    case 'BSONSymbol':
      // MongoDB orders a symbol as the string it holds.
      pushValue(parts, value.valueOf());
      return;
    case 'BSONRegExp':
      pushRegex(parts, value.pattern, value.options);
      return;
    case 'Code':
      parts.push(Buffer.of(TYPE.code));
      pushText(parts, String(value.code));
      pushValue(parts, value.scope ?? null);
      return;
    case 'DBRef':
      pushDocument(parts, {
        $ref: value.collection,
        $id: value.oid,
        ...(value.db === undefined ? {} : { $db: value.db }),
        ...value.fields,
      });
      return;
    case 'MinKey':
      parts.push(Buffer.of(TYPE.minKey));
      return;
    case 'MaxKey':
      parts.push(Buffer.of(TYPE.maxKey));
      return;
    default:
      throw new TypeError(`a ${value._bsontype} cannot be an _id`);
  }
}

function pushRegex(parts, pattern, options) {
  parts.push(Buffer.of(TYPE.regex));
  pushText(parts, pattern);
  pushText(parts, options);
}

function pushText(parts, text) {
  const bytes = Buffer.from(text, 'utf8');
  parts.push(uint32Bytes(bytes.length), bytes);
}

// Numbers: an int64 where the value is one, else the double it equals, else a decimal in lowest terms.

function pushInt64(parts, value) {
  parts.push(Buffer.of(TYPE.int64), int64Bytes(value));
}

function pushDouble(parts, value) {
  if (Number.isInteger(value)) {
    const integer = BigInt(value);
    if (integer >= MIN_INT64 && integer <= MAX_INT64) {
      pushInt64(parts, integer);
      return;
    }
  }
  const bytes = Buffer.allocUnsafe(8);
  // One NaN, whatever its payload.
  bytes.writeDoubleLE(Number.isNaN(value) ? Number.NaN : value);
  parts.push(Buffer.of(TYPE.double), bytes);
}

function pushDecimal(parts, text) {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/.exec(text);
  if (match === null) {
    // NaN, Infinity or -Infinity.
    pushDouble(parts, Number(text));
    return;
  }
  const [, sign, whole, fraction = '', power = '0'] = match;
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') {
    pushInt64(parts, 0n);
    return;
  }
  const exponent = Number(power) - fraction.length + (digits.length - significant.length);
  const coefficient = BigInt(sign + significant);
  const double = Number(`${coefficient}e${exponent}`);
  if (exponent >= 0 && exponent < 20) {
    const integer = coefficient * 10n ** BigInt(exponent);
    if (integer >= MIN_INT64 && integer <= MAX_INT64) {
      pushInt64(parts, integer);
      return;
    }
  }
  if (Number.isFinite(double) && double !== 0 && equalsDouble(coefficient, exponent, double)) {
    pushDouble(parts, double);
    return;
  }
  parts.push(Buffer.of(TYPE.decimal128));
  pushText(parts, `${coefficient}E${exponent}`);
}

/** Whether coefficient × 10^exponent is exactly the double. */
function equalsDouble(coefficient, exponent, double) {
  let mantissa = double;
  let halvings = 0n;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    halvings += 1n;
  }
  const ten = 10n ** BigInt(Math.abs(exponent));
  const scaled = coefficient * (exponent > 0 ? ten : 1n) * 2n ** halvings;
  return scaled === BigInt(mantissa) * (exponent < 0 ? ten : 1n);
}

function uint32Bytes(value) {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int64Bytes(value) {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}
