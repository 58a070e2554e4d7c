/**
 * The places where an element can stand, and what each entry of the type table becomes there. A place gives the
 * document to convert (with an `_id`, so that every public path takes it) and the row to expect.
 */
import { document, element, int, Type, withId } from './bson-bytes.mjs';
import { inMode, LEFT_OUT } from './type-table.mjs';

const before = int('before', 1);
const after = int('after', 2);

/** The name that a table entry has wherever it stands. */
export const NAME = 'v';

export const PLACES = {
  'top-level column': {
    bytes: (entry) => withId(element(entry.type, NAME, entry.payload), after),
    row: (entry, mode) => ({ _id: 1n, [NAME]: inMode(entry.column, mode), after: 2n }),
  },
  'last column': {
    bytes: (entry) => withId(element(entry.type, NAME, entry.payload)),
    row: (entry, mode) => ({ _id: 1n, [NAME]: inMode(entry.column, mode) }),
  },
  'in an object': {
    bytes: (entry) =>
      withId(
        element(Type.DOCUMENT, 'o', document([before, element(entry.type, NAME, entry.payload), after])),
      ),
    row: (entry, mode) => {
      const text = inMode(entry.object, mode);
      const member = text === LEFT_OUT ? '' : `"${NAME}":${text},`;
      return { _id: 1n, o: `{"before":1,${member}"after":2}` };
    },
  },
  'alone in an object': {
    bytes: (entry) =>
      withId(element(Type.DOCUMENT, 'o', document([element(entry.type, NAME, entry.payload)]))),
    row: (entry, mode) => {
      const text = inMode(entry.object, mode);
      return { _id: 1n, o: text === LEFT_OUT ? '{}' : `{"${NAME}":${text}}` };
    },
  },
  'in an array': {
    bytes: (entry) =>
      withId(element(Type.ARRAY, 'a', document([before, element(entry.type, '1', entry.payload), after]))),
    row: (entry, mode) => ({ _id: 1n, a: `[1,${inMode(entry.array, mode)},2]` }),
  },
  'in an array in an object': {
    bytes: (entry) =>
      withId(
        element(
          Type.DOCUMENT,
          'o',
          document([element(Type.ARRAY, 'a', document([element(entry.type, '0', entry.payload)]))]),
        ),
      ),
    row: (entry, mode) => ({ _id: 1n, o: `{"a":[${inMode(entry.array, mode)}]}` }),
  },
};
