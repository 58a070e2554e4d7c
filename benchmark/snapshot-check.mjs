// Whether two converters make the same rows of a reply.
import { isDeepStrictEqual } from 'node:util';

/** @returns {string | undefined} where the rows or identities first differ */
export function firstDifference(expected, found) {
  if (expected.length !== found.length) return `${found.length} rows, not ${expected.length}`;
  for (let index = 0; index < expected.length; index += 1) {
    for (const part of ['row', 'replicaId']) {
      if (!isDeepStrictEqual(found[index][part], expected[index][part]))
        return `${part} of document ${index}`;
    }
  }
  return undefined;
}
