// Names in SQLite for names in MongoDB. SQLite holds two names for the same that differ in the case of ASCII
// letters only; MongoDB tells them apart, so whoever comes second gets a number.

/** What SQLite compares: names with their ASCII letters in lower case. */
export function foldName(name) {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The wanted name where it is free, else the first of `wanted#2`, `wanted#3`, … that is.
 * @param {string} wanted
 * @param {{ has(foldedName: string): boolean }} taken
 */
export function freeName(wanted, taken) {
  let name = wanted;
  for (let number = 2; taken.has(foldName(name)); number += 1) name = `${wanted}#${number}`;
  return name;
}

/** A collection's table bears its namespace, but for the prefix that SQLite keeps to itself. */
export function wantedTableName(namespace) {
  return /^sqlite_/i.test(namespace) ? `_${namespace}` : namespace;
}

export function quoteName(name) {
  return `"${name.replaceAll('"', '""')}"`;
}
