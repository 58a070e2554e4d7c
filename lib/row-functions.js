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
});

/**
 * Makes what is not a plain value.
 * @typedef {object} Makers
 * @property {(index: number) => unknown} objectId the ObjectId that passed as number `index`
 * @property {(seconds: number, increment: number) => unknown} timestamp
 * @property {(source: Uint8Array, start: number, end: number) => Buffer} view
 * @property {(array: Uint8Array) => Buffer} buffer over the memory of an array
 */

/** @typedef {(string | number)[]} Tokens */
/** @typedef {(given: unknown, ...values: unknown[]) => object} RowFunction */

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
 * The object of an outline and values, without compiling. `values[0]` is the source that views are made of.
 * @param {Outline} outline
 * @param {ArrayLike<unknown>} values
 * @param {Makers} makers
 */
function fill(outline, values, makers) {
  const source = /** @type {Uint8Array} */ (values[0]);
  let value = 1;
  let ids = 0;
  /** @type {unknown} */
  let identity;
  const number = () => /** @type {number} */ (values[value++]);
  /** @param {Property} property */
  const make = ({ mark, inner }) => {
    if (inner !== undefined) return makeObject(inner);
    if (mark === Mark.OBJECT_ID) return makers.objectId(ids++);
    if (mark === Mark.TIMESTAMP) return makers.timestamp(number(), number());
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
 * An outline as source text: a function of the values `c1`, `c2`, … whose body is an object literal.
 * @param {Outline} outline
 */
function writeFunction(outline) {
  let values = 0;
  let ids = 0;
  const parameter = () => `c${++values}`;
  /** @param {Property} property @returns {string} */
  const write = ({ isIdentity, ...property }) => {
    // A literal's values are made in their order, so the identity is there before what is the same.
    if (isIdentity) return `identity = ${write(property)}`;
    const { mark, inner } = property;
    if (inner !== undefined) return writeObject(inner);
    if (mark === Mark.OBJECT_ID) return `objectId(${ids++})`;
    if (mark === Mark.TIMESTAMP) return `timestamp(${parameter()}, ${parameter()})`;
    if (mark === Mark.VIEW) return `view(given, ${parameter()}, ${parameter()})`;
    if (mark === Mark.BUFFER) return `buffer(${parameter()})`;
    if (mark === Mark.SAME_IDENTITY) return 'identity';
    return parameter();
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
  const parameters = Array.from({ length: values }, (_, index) => `c${index + 1}`);
  // The identity is a variable of the function: a parameter that nobody gives.
  return `(${['given', ...parameters, 'identity'].join(', ')}) => (${text})`;
}

let canCompile = true;

/**
 * `(given, ...values) => object`
 * @param {Tokens} tokens
 * @param {Makers} makers
 * @returns {RowFunction}
 */
function compile(tokens, makers) {
  const outline = readTokens(tokens);
  if (canCompile) {
    try {
      const body = `'use strict'; return ${writeFunction(outline)};`;
      const { objectId, timestamp, view, buffer } = makers;
      return new Function('objectId', 'timestamp', 'view', 'buffer', body)(objectId, timestamp, view, buffer);
    } catch (error) {
      // The process may not generate code from strings.
      if (!(error instanceof EvalError)) throw error;
      canCompile = false;
    }
  }
  addTemplates(outline);
  return (...values) => fill(outline, values, makers);
}

/**
 * The object of tokens and values that are not worth compiling.
 * @param {Tokens} tokens
 * @param {unknown[]} values
 * @param {Makers} makers
 */
function assemble(tokens, values, makers) {
  return fill(readTokens(tokens), values, makers);
}

module.exports = { assemble, compile };
