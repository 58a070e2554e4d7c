// The id and namespace in a `cursor` document that could not be converted, so that the cursor can be killed.

const TYPE = { string: 0x02, document: 0x03, array: 0x04, int64: 0x12 };
const LENGTH = 4;

/**
 * Reads but what it needs, and no byte beyond the end. The batch is passed over by its length: where that is damaged,
 * nothing is found.
 * @param {Buffer} cursor
 * @returns {{ id: bigint, ns: string } | null}
 */
export function findCursorId(cursor) {
  let id = null;
  let ns = null;
  for (let at = LENGTH; at < cursor.length && (id === null || ns === null); ) {
    const nameEnd = cursor.indexOf(0, at + 1);
    if (nameEnd < 0 || nameEnd + 1 + LENGTH > cursor.length) return null;
    const type = cursor[at];
    const name = cursor.toString('latin1', at + 1, nameEnd);
    const value = nameEnd + 1;
    const end = value + sizeOf(type, cursor.readInt32LE(value));
    if (!(end > value && end <= cursor.length)) return null;
    if (name === 'id' && type === TYPE.int64) id = cursor.readBigInt64LE(value);
    if (name === 'ns' && type === TYPE.string) ns = cursor.toString('utf8', value + LENGTH, end - 1);
    at = end;
  }
  return id === null || ns === null ? null : { id, ns };
}

/** Bytes of a value; `NaN` for a type that a cursor does not hold before its id. */
function sizeOf(type, length) {
  switch (type) {
    case TYPE.string:
      return length > 0 ? LENGTH + length : Number.NaN;
    case TYPE.document:
    case TYPE.array:
      return length > LENGTH ? length : Number.NaN;
    case TYPE.int64:
      return 8;
    default:
      return Number.NaN;
  }
}
