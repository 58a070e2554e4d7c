/**
 * Functions that make an object of given names from values in the same order, compiled once for a sequence of names
 * and marks. A literal's object is in V8's fast mode from the start, and its properties are own ones whatever their
 * names are; a name that stands twice keeps its first place and takes its last value, as the contract wants.
 */

const { countedAsShortLived } = require('./allocation-sites.js');
const { Same, accessorOf, addUnread, define } = require('./lazy-json.js');

/** What stands between names: the marks of src/shape.rs. */
const Mark = Object.freeze({
  ENTER: 1,
  LEAVE: 2,
  OBJECT_ID: 3,
  TIMESTAMP: 4,
  VIEW: 5,
  BUFFER: 6,
  IDENTITY: 7,
  SAME_IDENTITY: 8,
  BINARY: 9,
  UNREAD: 10,
});

/** What a slot is where it is no text: the numbers of `SlotKind` in src/parts.rs. */
const Slot = Object.freeze({
  HANDLE: -1,
  BIGINT: -2,
  DOUBLE: -3,
  NULL: -4,
  UNDEFINED: -5,
  FALSE: -6,
  TRUE: -7,
  DATE: -8,
});

/** Numbers of four bytes in a slot: two that say what it is, and the number or bigint. */
const SLOT_WORDS = 4;

/**
 * Memory in which values pass, a slot each: where its text stands among those of its object, or what it is; and its
 * number.
 * @typedef {object} Slots
 * @property {Int32Array} places
 * @property {BigInt64Array} bigints over the same memory
 * @property {Float64Array} doubles over the same memory
 * @property {Uint8Array} objectIds
 */

/**
 * What makes special values.
 * @typedef {object} Makers
 * @property {(index: number, objectIds: Uint8Array) => unknown} objectIdOf
 * @property {(index: number) => unknown} objectId of the shared memory
 * @property {(seconds: number, increment: number) => unknown} timestamp
 * @property {(bytes: string, subtype: number) => unknown} binary of Latin-1
 * @property {(source: Uint8Array, start: number, end: number) => Buffer} view
 * @property {(bytes: Uint8Array) => Buffer} buffer over the whole memory of an array
 */

/** @typedef {(string | number)[]} Tokens */
/**
 * Makes an object of the slots and ObjectIds from `first` and `firstId` on; `first` counts words.
 * @typedef {(given: unknown, together: string, handles: unknown[], first: number, firstId: number) => object} RowFunction
 */

/**
 * An object to be made: its properties, each a plain value (no mark), a marked one, or an object of its own; one of
 * them may be the identity, which another can be the same as.
 * @typedef {{ name: string, mark?: number, inner?: Outline, isIdentity?: boolean }} Property
 * An object with unread properties is a row, whose other properties are plain.
 * @typedef {{ properties: Property[], hasUnread: boolean, template?: object }} Outline
 */

/**
 * @param {Tokens} tokens
 * @returns {Outline}
 */
function readTokens(tokens) {
  let next = 0;
  /** @returns {Outline} */
  const read = () => {
    /** @type {Property[]} */
    const properties = [];
    while (next < tokens.length && tokens[next] !== Mark.LEAVE) {
      /** @type {Property} */
      const property = { name: /** @type {string} */ (tokens[next++]) };
      if (tokens[next] === Mark.IDENTITY) {
        property.isIdentity = true;
        next++;
      }
      const mark = tokens[next];
      if (typeof mark === 'number' && mark !== Mark.LEAVE) {
        next++;
        if (mark === Mark.ENTER) property.inner = read();
        else property.mark = mark;
      }
      properties.push(property);
    }
    next++;
    return { properties, hasUnread: properties.some(({ mark }) => mark === Mark.UNREAD) };
  };
  return read();
}

/**
 * The object of an outline and values, without compiling.
 * @param {Outline} outline
 * @param {unknown} given the source that views are made of
 * @param {ArrayLike<unknown>} values
 * @param {Uint8Array} objectIds the bytes of all ObjectIds
 * @param {Makers} makers
 */
function fill(outline, given, values, objectIds, makers) {
  const source = /** @type {Uint8Array} */ (given);
  let value = 0;
  let ids = 0;
  /** @type {unknown} */
  let identity;
  const number = () => /** @type {number} */ (values[value++]);
  /** @param {Property} property */
  const make = ({ mark, inner }) => {
    if (inner !== undefined) return makeObject(inner);
    if (mark === Mark.OBJECT_ID) return makers.objectIdOf(ids++, objectIds);
    if (mark === Mark.TIMESTAMP) return makers.timestamp(number(), number());
    if (mark === Mark.BINARY) return makers.binary(/** @type {string} */ (values[value++]), number());
    if (mark === Mark.VIEW) return makers.view(source, number(), number());
    if (mark === Mark.BUFFER) return makers.buffer(/** @type {Uint8Array} */ (values[value++]));
    if (mark === Mark.SAME_IDENTITY) return identity;
    return values[value++];
  };
  /** @param {Outline} outline */
  const makeLazyRow = ({ properties }) => {
    /** A name's first place and last value, which need not be of one kind. */
    const columns = new Map();
    for (const property of properties) {
      const isUnread = property.mark === Mark.UNREAD;
      columns.set(property.name, isUnread ? { cells: [number(), number()] } : { value: make(property) });
    }
    const row = {};
    /** @type {string[]} */
    const names = [];
    /** @type {unknown[]} */
    const cells = [];
    for (const [name, column] of columns) {
      if (column.cells === undefined) {
        define(row, name, column.value);
      } else {
        Object.defineProperty(row, name, accessorOf(names.length));
        names.push(name);
        cells.push(...column.cells);
      }
    }
    return names.length === 0 ? row : addUnread(row, source, names, cells);
  };
  /** @param {Outline} outline */
  const makeObject = (outline) => {
    if (outline.hasUnread) return makeLazyRow(outline);
    const { properties, template } = outline;
    /** @type {Record<string, unknown>} */
    const object = template === undefined ? Object.create(null) : { ...template };
    for (const property of properties) {
      const { name } = property;
      const made = make(property);
      if (property.isIdentity) identity = made;
      if (name === '__proto__') define(object, name, made);
      else object[name] = made;
    }
    // Until now nothing was inherited, so every name became an own one; and the object is a dictionary, which new
    // names cost half as much in as in an object whose map V8 must extend for each.
    return template === undefined ? Object.setPrototypeOf(object, Object.prototype) : object;
  };
  return makeObject(outline);
}

/**
 * Gives an outline templates, whose copies are in fast mode: `JSON.parse` takes every name as it is.
 * @param {Outline} outline
 */
function addTemplates(outline) {
  const names = new Set(outline.properties.map(({ name }) => name));
  outline.template = JSON.parse(`{${[...names].map((name) => `${JSON.stringify(name)}:null`).join()}}`);
  for (const { inner } of outline.properties) if (inner !== undefined) addTemplates(inner);
}

/**
 * An outline as source text: constants, and the body of a function of a row.
 * @param {Outline} outline
 */
function writeFunction(outline) {
  let values = 0;
  let ids = 0;
  const variables = ['place', 'identity'];
  /** @type {string[]} */
  const constants = [];
  /** @param {string} text @returns {string} its name */
  const addConstant = (text) => {
    const name = `constant${constants.length}`;
    constants.push(`const ${name} = ${text};`);
    return name;
  };
  const next = () => {
    const slot = values++;
    const place = `first + ${SLOT_WORDS * slot}`;
    const number = `half + ${(SLOT_WORDS / 2) * slot + 1}`;
    return (
      `((place = places[${place}]) >= 0 ? together.substring(place, places[${place} + 1]) : ` +
      `place === ${Slot.BIGINT} ? bigints[${number}] : place === ${Slot.DOUBLE} ? doubles[${number}] : ` +
      `place === ${Slot.NULL} ? null : other(place, ${place}, handles))`
    );
  };
  /** @param {Property} property @returns {string} */
  const write = ({ isIdentity, ...property }) => {
    // A literal's values are made in their order, so the identity is there before what is the same.
    if (isIdentity) return `identity = ${write(property)}`;
    const { mark, inner } = property;
    if (inner !== undefined) return writeObject(inner);
    if (mark === Mark.OBJECT_ID) return `objectId(firstId + ${ids++})`;
    if (mark === Mark.TIMESTAMP) return `timestamp(${next()}, ${next()})`;
    if (mark === Mark.BINARY) return `binary(${next()}, ${next()})`;
    if (mark === Mark.VIEW) return `view(given, ${next()}, ${next()})`;
    if (mark === Mark.BUFFER) return `buffer(${next()})`;
    if (mark === Mark.SAME_IDENTITY) return 'identity';
    return next();
  };
  /** @param {[string, string][]} properties names and values */
  const writeLiteral = (properties) => {
    const texts = properties.map(([property, value]) => {
      const name = JSON.stringify(property);
      // As a computed name `__proto__` is one like any other. The rest stay plain: V8 copies a literal of plain
      // names from one prepared object.
      return `${property === '__proto__' ? `[${name}]` : name}: ${value}`;
    });
    return `{ ${texts.join(', ')} }`;
  };
  /**
   * Columns that stand behind an accessor of their row: the fields of a class, which an object that is given gets.
   * That costs no more than an assignment, and as in a literal nothing that is inherited matters.
   * @param {string[]} names
   */
  const writeClass = (names) => {
    // No class has a field of the plain name `constructor`.
    const fields = names.map((name) =>
      name === 'constructor' ? '["constructor"];' : `${JSON.stringify(name)};`,
    );
    return `class extends Same { ${fields.join(' ')} }`;
  };
  /** @param {Outline} outline */
  const writeLazyRow = ({ properties }) => {
    /** A name's first place and last value, which need not be of one kind. @type {Map<string, string | string[]>} */
    const columns = new Map();
    for (const property of properties) {
      columns.set(property.name, property.mark === Mark.UNREAD ? [next(), next()] : write(property));
    }
    const row = `row${variables.length}`;
    variables.push(row);
    /** @type {string[]} */
    const steps = [];
    /** @type {[string, string][]} */
    let plain = [];
    const addPlain = () => {
      if (steps.length === 0) {
        steps.push(`${row} = ${writeLiteral(plain)}`);
      } else if (plain.length > 0) {
        steps.push(`new ${addConstant(writeClass(plain.map(([name]) => name)))}(${row})`);
        steps.push(...plain.map(([name, value]) => `${row}[${JSON.stringify(name)}] = ${value}`));
      }
      plain = [];
    };
    /** @type {string[]} */
    const names = [];
    /** @type {string[]} */
    const cells = [];
    for (const [name, value] of columns) {
      if (typeof value === 'string') {
        plain.push([name, value]);
      } else {
        addPlain();
        const accessor = addConstant(`accessorOf(${names.length})`);
        steps.push(`defineProperty(${row}, ${JSON.stringify(name)}, ${accessor})`);
        names.push(name);
        cells.push(...value);
      }
    }
    addPlain();
    if (names.length > 0) {
      const all = addConstant(JSON.stringify(names));
      steps.push(`addUnread(${row}, given, ${all}, [${cells.join(', ')}])`);
    }
    return `(${steps.join(', ')}, ${row})`;
  };
  /** @param {Outline} outline */
  const writeObject = (outline) =>
    outline.hasUnread
      ? writeLazyRow(outline)
      : writeLiteral(outline.properties.map((property) => [property.name, write(property)]));
  const made = writeObject(outline);
  return {
    constants: constants.join(' '),
    body: `let ${variables.join(', ')}; const half = first / 2; return ${made};`,
  };
}

/**
 * The value of a slot that is none of the common ones; `at` counts words.
 * @param {Slots} slots
 */
function otherValues({ places, doubles }) {
  /** @param {number} kind @param {number} at @param {unknown[]} handles */
  const other = (kind, at, handles) => {
    if (kind === Slot.HANDLE) return handles[places[at + 1]];
    if (kind === Slot.UNDEFINED) return undefined;
    if (kind === Slot.DATE) return new Date(doubles[at / 2 + 1]);
    return kind === Slot.TRUE;
  };
  return other;
}

/**
 * The values of slots, of which there are as many as `count` says.
 * @param {number} count
 * @param {string} together
 * @param {unknown[]} handles
 * @param {number} first
 * @param {Slots} slots
 */
function readSlots(count, together, handles, first, slots) {
  const { places, bigints, doubles } = slots;
  const other = otherValues(slots);
  return Array.from({ length: count }, (_, slot) => {
    const at = first + SLOT_WORDS * slot;
    const place = places[at];
    if (place >= 0) return together.substring(place, places[at + 1]);
    if (place === Slot.BIGINT) return bigints[at / 2 + 1];
    if (place === Slot.DOUBLE) return doubles[at / 2 + 1];
    return place === Slot.NULL ? null : other(place, at, handles);
  });
}

/** @param {number | undefined} mark */
const isOfTwo = (mark) =>
  mark === Mark.TIMESTAMP || mark === Mark.BINARY || mark === Mark.VIEW || mark === Mark.UNREAD;

/**
 * How many slots and ObjectIds the values of an outline are.
 * @param {Outline} outline
 * @returns {{ slots: number, ids: number }}
 */
function count({ properties }) {
  const total = { slots: 0, ids: 0 };
  for (const { inner, mark } of properties) {
    if (inner !== undefined) {
      const { slots, ids } = count(inner);
      total.slots += slots;
      total.ids += ids;
    } else if (mark === Mark.OBJECT_ID) total.ids++;
    else if (isOfTwo(mark)) total.slots += 2;
    else if (mark !== Mark.SAME_IDENTITY) total.slots++;
  }
  return total;
}

let canCompile = true;

/**
 * @param {Tokens} tokens
 * @param {Makers} makers
 * @param {Slots} slots
 * @param {number} idBytes
 * @param {(settled: RowFunction) => void} onSettled is given the function that is to stand in place of the first one
 *   from then on
 * @returns {RowFunction}
 */
function compile(tokens, makers, slots, idBytes, onSettled) {
  const outline = readTokens(tokens);
  if (canCompile) {
    try {
      const { places, bigints, doubles } = slots;
      const { defineProperty } = Object;
      const lazy = { Same, accessorOf, addUnread, defineProperty };
      const scope = { ...makers, ...lazy, places, bigints, doubles, other: otherValues(slots) };
      const { constants, body } = writeFunction(outline);
      const text = `'use strict'; ${constants} return (given, together, handles, first, firstId) => { ${body} };`;
      return countedAsShortLived(
        new Function(...Object.keys(scope), text)(...Object.values(scope)),
        onSettled,
      );
    } catch (error) {
      // The process may not generate code from strings.
      if (!(error instanceof EvalError)) throw error;
      canCompile = false;
    }
  }
  addTemplates(outline);
  const total = count(outline);
  return (given, together, handles, first, firstId) =>
    fillFromSlots(outline, total, given, together, handles, first, firstId, slots, idBytes, makers);
}

/**
 * The object of an outline and of slots and ObjectIds, all of which are read before anything is made.
 * @param {Outline} outline
 * @param {ReturnType<typeof count>} total
 * @param {unknown} given
 * @param {string} together
 * @param {unknown[]} handles
 * @param {number} first
 * @param {number} firstId
 * @param {Slots} slots
 * @param {number} idBytes
 * @param {Makers} makers
 */
function fillFromSlots(outline, total, given, together, handles, first, firstId, slots, idBytes, makers) {
  const ids = slots.objectIds.slice(firstId * idBytes, (firstId + total.ids) * idBytes);
  return fill(outline, given, readSlots(total.slots, together, handles, first, slots), ids, makers);
}

/**
 * The object of tokens and values that are not worth compiling.
 * @param {Tokens} tokens
 * @param {unknown} given
 * @param {unknown[]} values
 * @param {Uint8Array} objectIds the bytes of all ObjectIds
 * @param {Makers} makers
 */
function assemble(tokens, given, values, objectIds, makers) {
  return fill(readTokens(tokens), given, values, objectIds, makers);
}

/**
 * The same of slots.
 * @param {Tokens} tokens
 * @param {unknown} given
 * @param {string} together
 * @param {unknown[]} handles
 * @param {Slots} slots
 * @param {number} idBytes
 * @param {Makers} makers
 */
function assembleSlots(tokens, given, together, handles, slots, idBytes, makers) {
  const outline = readTokens(tokens);
  return fillFromSlots(outline, count(outline), given, together, handles, 0, 0, slots, idBytes, makers);
}

module.exports = { assemble, assembleSlots, compile, SLOT_WORDS };
