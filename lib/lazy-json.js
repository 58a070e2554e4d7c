/**
 * Columns whose JSON text is made when they are read: accessors of a row, and what the row knows of them.
 *
 * A row's accessors are its own, but their functions are those of all rows: with functions of its own, every row would
 * be an object of V8's slow kind, and cost four times as much. What they need to know of a row is in a private field,
 * which no reflection shows.
 */
const { invalid } = require('./context.js');
const native = require('./native.js');

/** Stands before the value of a column that was read or assigned. */
const SETTLED = -1;

/**
 * What a row knows of its unread columns.
 * @typedef {object} Unread
 * @property {Uint8Array | undefined} source undefined once no column is unread
 * @property {readonly string[]} names
 * @property {unknown[]} cells two a column: the numbers by which src/unread.rs finds the value; or `SETTLED` and the
 *   column's value
 * @property {number} count how many columns are unread
 */

/**
 * Gives back the object that it is given, so that a class that extends it adds its fields to that object.
 * @type {new (object: object) => object}
 */
const Same = /** @type {any} */ (
  function Same(/** @type {object} */ object) {
    return object;
  }
);

class LazyRow extends Same {
  /** @type {Unread} */
  #unread;

  /** @param {object} row @param {Unread} unread */
  constructor(row, unread) {
    super(row);
    this.#unread = unread;
  }

  /** @param {unknown} value @returns {Unread | undefined} */
  static unreadOf(value) {
    return typeof value === 'object' && value !== null && #unread in value ? value.#unread : undefined;
  }
}

/**
 * What is known of the row that an accessor was found on: of `receiver`, or of what that inherits from.
 * @param {unknown} receiver
 */
function unreadOf(receiver) {
  for (
    let object = receiver;
    object !== null && object !== undefined;
    object = Object.getPrototypeOf(object)
  ) {
    const unread = LazyRow.unreadOf(object);
    if (unread !== undefined) return unread;
  }
  throw invalid(
    'A column that was not read yet can be read from its row only, not from a Proxy of it or by its accessor elsewhere',
  );
}

/** @param {Unread} unread @param {number} index @param {unknown} value */
function settle(unread, index, value) {
  const { cells } = unread;
  if (cells[2 * index] !== SETTLED && --unread.count === 0) unread.source = undefined;
  cells[2 * index] = SETTLED;
  cells[2 * index + 1] = value;
}

/** @param {unknown} receiver @param {number} index */
function readColumn(receiver, index) {
  const unread = unreadOf(receiver);
  const [start, rest] = [unread.cells[2 * index], unread.cells[2 * index + 1]];
  if (start === SETTLED) return rest;
  const source = /** @type {Uint8Array} */ (unread.source);
  const text = native.readJson(source, /** @type {number} */ (start), /** @type {number} */ (rest));
  settle(unread, index, text);
  return text;
}

/** @param {unknown} receiver @param {number} index @param {unknown} value */
function writeColumn(receiver, index, value) {
  const own = LazyRow.unreadOf(receiver);
  if (own !== undefined) settle(own, index, value);
  // As with any property: what inherits from the row gets a property of its own.
  else define(/** @type {object} */ (receiver), unreadOf(receiver).names[index], value);
}

/**
 * A descriptor that inherits nothing: what an application has put into `Object.prototype` would be a part of it.
 * @param {PropertyDescriptor} descriptor
 * @returns {PropertyDescriptor}
 */
const alone = (descriptor) => Object.assign(Object.create(null), descriptor);

/**
 * @param {object} object
 * @param {string} name
 * @param {unknown} value
 */
function define(object, name, value) {
  const isOpen = { writable: true, enumerable: true, configurable: true };
  Object.defineProperty(object, name, alone({ value, ...isOpen }));
}

/** @type {PropertyDescriptor[]} */
const accessors = [];

/**
 * The accessor of a row's lazy column number `index`.
 * @param {number} index
 */
function accessorOf(index) {
  for (let next = accessors.length; next <= index; next++) {
    accessors.push(
      alone({
        get() {
          return readColumn(this, next);
        },
        set(value) {
          writeColumn(this, next, value);
        },
        enumerable: true,
        configurable: true,
      }),
    );
  }
  return accessors[index];
}

/**
 * Lets a row know of its unread columns.
 * @param {object} row
 * @param {Uint8Array} source
 * @param {readonly string[]} names
 * @param {unknown[]} cells
 */
function addUnread(row, source, names, cells) {
  return new LazyRow(row, { source, names, cells, count: names.length });
}

module.exports = { Same, accessorOf, addUnread, define };
