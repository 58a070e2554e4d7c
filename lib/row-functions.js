/**
 * Functions that make an object with given names from values in the same order, compiled once for a sequence of
 * names. A literal's object is in V8's fast mode from the start, and its properties are own ones whatever their
 * names are; a name that stands twice keeps its first place and takes its last value, as the contract wants.
 */

/**
 * A property of a literal. As a computed name, `__proto__` is a name like any other; the rest stay plain, because
 * V8 makes a literal of plain names from one prepared object.
 * @param {string} name
 * @param {number} index
 */
function property(name, index) {
  const quoted = JSON.stringify(name);
  return `${name === '__proto__' ? `[${quoted}]` : quoted}: c${index}`;
}

/** @param {string[]} names */
function parameters(names) {
  return names.map((_, index) => `c${index}`);
}

/** @param {string[]} names */
function literal(names) {
  return `{ ${names.map(property).join(', ')} }`;
}

/**
 * What a literal does, where code generation from strings is switched off: a template's copy has its names, and
 * `JSON.parse` takes every name as it is.
 * @param {string[]} names
 * @returns {(values: ArrayLike<unknown>, first: number) => object}
 */
function copier(names) {
  const template = JSON.parse(
    `{${[...new Set(names)].map((name) => `${JSON.stringify(name)}:null`).join()}}`,
  );
  const isPlain = !names.includes('__proto__');
  return (values, first) => {
    const row = { ...template };
    for (let index = 0; index < names.length; index++) {
      const value = values[first + index];
      if (isPlain || names[index] !== '__proto__') row[names[index]] = value;
      else define(row, names[index], value);
    }
    return row;
  };
}

/**
 * @param {object} row
 * @param {string} name
 * @param {unknown} value
 */
function define(row, name, value) {
  Object.defineProperty(row, name, { value, writable: true, enumerable: true, configurable: true });
}

let canCompile = true;

/**
 * A function from source text, or what `otherwise` makes where the process does not allow that.
 * @template {Function} F
 * @param {string} body the function, as an expression over `given`
 * @param {unknown} given
 * @param {() => F} otherwise
 * @returns {F}
 */
function compile(body, given, otherwise) {
  if (canCompile) {
    try {
      return new Function('given', `'use strict'; return ${body};`)(given);
    } catch (error) {
      if (!(error instanceof EvalError)) throw error;
      canCompile = false;
    }
  }
  return otherwise();
}

/**
 * `(...columns) => row`
 * @param {string[]} names
 */
function compileRow(names) {
  return compile(`(${parameters(names)}) => (${literal(names)})`, undefined, () => {
    const copy = copier(names);
    return (/** @type {unknown[]} */ ...values) => copy(values, 0);
  });
}

/**
 * `(id, ...columns) => ({ row, replicaId: id })`
 * @param {string[]} names
 */
function compileIdentifiedRow(names) {
  const body = `(id, ${parameters(names)}) => ({ row: ${literal(names)}, replicaId: id })`;
  return compile(body, undefined, () => {
    const copy = copier(names);
    return (/** @type {unknown[]} */ ...values) => ({ row: copy(values, 1), replicaId: values[0] });
  });
}

/**
 * `(...columns) => ({ row, replicaId: makeId() })`
 * @param {string[]} names
 * @param {() => unknown} makeId
 */
function compileMadeIdRow(names, makeId) {
  const body = `(${parameters(names)}) => ({ row: ${literal(names)}, replicaId: given() })`;
  return compile(body, makeId, () => {
    const copy = copier(names);
    return (/** @type {unknown[]} */ ...values) => ({ row: copy(values, 0), replicaId: makeId() });
  });
}

/**
 * Adds names and values, in turn, to a row; begins one where it is `undefined`. For names that no function was
 * compiled for.
 * @param {Record<string, unknown> | undefined} row
 */
function fill(row) {
  const filled = row ?? {};
  // biome-ignore lint/complexity/noArguments: a rest parameter would copy up to 128 values into an array
  const pairs = arguments;
  for (let index = 1; index < pairs.length; index += 2) {
    const name = pairs[index];
    // An inherited name, `__proto__` above all, must become an own one.
    if (name in filled) define(filled, name, pairs[index + 1]);
    else filled[name] = pairs[index + 1];
  }
  return filled;
}

module.exports = { compileRow, compileIdentifiedRow, compileMadeIdRow, fill };
