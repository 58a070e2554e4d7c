/**
 * Functions that make an object of given names from values in the same order, compiled once for a sequence of names
 * and marks. A literal's object is in V8's fast mode from the start, and its properties are own ones whatever their
 * names are; a name that stands twice keeps its first place and takes its last value, as the contract wants.
 */

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
});

/** What a slot is where it is no text: the numbers of `SlotKind` in src/js_row.rs. */
const Slot = Object.freeze({ HANDLE: -1, BIGINT: -2, DOUBLE: -3, NULL: -4 });

/**
 * Memory in which values pass: for each slot, where its text stands among those that pass together, or what it is;
 * and its number.
 * @typedef {object} Slots
 * @property {Int32Array} places two numbers a slot
 * @property {BigInt64Array} bigints
 * @property {Float64Array} doubles over the same memory
 * @property {Uint8Array} objectIds
 */

/**
 * Makes what is not a plain value.
 * @typedef {object} Makers
 * @property {(index: number) => unknown} objectId the ObjectId that passed as number `index`
 * @property {(index: number, bytes: Uint8Array) => unknown} objectIdOf the ObjectId number `index` of bytes
 * @property {(seconds: number, increment: number) => unknown} timestamp
 * @property {(source: Uint8Array, start: number, end: number) => Buffer} view
 * @property {(bytes: string, subtype: number) => unknown} binary a string of a character a byte
 * @property {(array: Uint8Array) => Buffer} buffer over the memory of an array
 */

/** @typedef {(string | number)[]} Tokens */
/** @typedef {(given: unknown, together: string, ...handles: unknown[]) => object} RowFunction */

/**
 * An object to be made: its properties, each a plain value (no mark), a marked one, or an object of its own; one of
 * them may be the identity, which another can be the same as.
 * @typedef {{ name: string, mark?: number, inner?: Outline, isIdentity?: boolean }} Property
 * @typedef {{ properties: Property[], template?: object }} Outline
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
    return { properties };
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
  const makeObject = ({ properties, template }) => {
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
 * @param {object} object
 * @param {string} name
 * @param {unknown} value
 */
function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
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
 * An outline as source text: a function of the handles `c0`, `c1`, … whose body is an object literal.
 * @param {Outline} outline
 */
function writeFunction(outline) {
  let values = 0;
  let ids = 0;
  const next = () => {
    const slot = values++;
    const [start, end] = [`places[${2 * slot}]`, `places[${2 * slot + 1}]`];
    return (
      `(${start} >= 0 ? together.substring(${start}, ${end}) : ${start} === ${Slot.HANDLE} ? c${slot} : ` +
      `${start} === ${Slot.BIGINT} ? bigints[${slot}] : ${start} === ${Slot.DOUBLE} ? doubles[${slot}] : null)`
    );
  };
  /** @param {Property} property @returns {string} */
  const write = ({ isIdentity, ...property }) => {
    // A literal's values are made in their order, so the identity is there before what is the same.
    if (isIdentity) return `identity = ${write(property)}`;
    const { mark, inner } = property;
    if (inner !== undefined) return writeObject(inner);
    if (mark === Mark.OBJECT_ID) return `objectId(${ids++})`;
    if (mark === Mark.TIMESTAMP) return `timestamp(${next()}, ${next()})`;
    if (mark === Mark.BINARY) return `binary(${next()}, ${next()})`;
    if (mark === Mark.VIEW) return `view(given, ${next()}, ${next()})`;
    if (mark === Mark.BUFFER) return `buffer(${next()})`;
    if (mark === Mark.SAME_IDENTITY) return 'identity';
    return next();
  };
  /** @param {Outline} outline */
  const writeObject = ({ properties }) => {
    const texts = properties.map((property) => {
      const name = JSON.stringify(property.name);
      // As a computed name `__proto__` is one like any other. The rest stay plain: V8 copies a literal of plain
      // names from one prepared object.
      return `${property.name === '__proto__' ? `[${name}]` : name}: ${write(property)}`;
    });
    return `{ ${texts.join(', ')} }`;
  };
  const text = writeObject(outline);
  const handles = Array.from({ length: values }, (_, slot) => `c${slot}`);
  // The identity is a variable of the function: a parameter that nobody gives.
  return `(${['given', 'together', ...handles, 'identity'].join(', ')}) => (${text})`;
}

/**
 * The values of slots.
 * @param {string} together
 * @param {unknown[]} handles
 * @param {Slots} slots
 */
function readSlots(together, handles, { places, bigints, doubles }) {
  return handles.map((handle, slot) => {
    const [start, end] = [places[2 * slot], places[2 * slot + 1]];
    if (start >= 0) return together.substring(start, end);
    if (start === Slot.HANDLE) return handle;
    if (start === Slot.BIGINT) return bigints[slot];
    return start === Slot.DOUBLE ? doubles[slot] : null;
  });
}

let canCompile = true;

/**
 * `(given, together, ...handles) => object`
 * @param {Tokens} tokens
 * @param {Makers} makers
 * @param {Slots} slots
 * @returns {RowFunction}
 */
function compile(tokens, makers, slots) {
  const outline = readTokens(tokens);
  if (canCompile) {
    try {
      const scope = { ...makers, ...slots };
      const body = `'use strict'; return ${writeFunction(outline)};`;
      return new Function(...Object.keys(scope), body)(...Object.values(scope));
    } catch (error) {
      // The process may not generate code from strings.
      if (!(error instanceof EvalError)) throw error;
      canCompile = false;
    }
  }
  addTemplates(outline);
  // All that is shared is read before anything is made: making may convert again.
  return (given, together, ...handles) =>
    fill(outline, given, readSlots(together, handles, slots), slots.objectIds.slice(), makers);
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

module.exports = { assemble, compile };
