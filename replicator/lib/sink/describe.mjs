// A change as messages about it name it.

/** @param {import('../changes.mjs').Change} change */
export function describeChange({ namespace, database, operation, row, key }) {
  const where = `${namespace ?? database}, ${operation}`;
  if (row?._id !== undefined) return `${where} of _id ${row._id}`;
  return key === undefined ? where : `${where} of key ${key.toString('hex')}`;
}
