const { Buffer } = require('node:buffer');
const { invalid } = require('./context.js');
const { deserializeFieldOptions, deserializeOptions } = require('./deserialize-options.js');
const { readBson } = require('./options.js');

/** @typedef {import('../index.js').MessagePackExtension} MessagePackExtension */
/** @typedef {import('../index.js').MessagePackNames} MessagePackNames */

/** The extension types of src/message_pack.rs. */
const Type = Object.freeze({ UNDEFINED: 0, OBJECT_ID: 1, BSON: 2, BSON_OF_DOCUMENTS: 3, BIGINT: 0x42 });

const NAME = Buffer.from('_id\0');

/**
 * A document of one element: of its type and the bytes of its value.
 * @param {Uint8Array} value
 */
function documentOf(value) {
  const length = 4 + value.length + NAME.length + 1;
  const document = Buffer.alloc(length);
  document.writeInt32LE(length);
  document.set(value.subarray(0, 1), 4);
  document.set(NAME, 5);
  document.set(value.subarray(1), 5 + NAME.length);
  return document;
}

/**
 * @param {Pick<import('../index.js').ConverterOptions, 'bson'>} [options]
 * @returns {MessagePackExtension[]}
 */
function messagePackExtensions(options = {}) {
  const { ObjectId, deserialize } = readBson(options);
  /** @param {Uint8Array} value @param {object} options */
  const read = (value, options) => {
    try {
      return deserialize(documentOf(value), options)._id;
    } catch {
      // A regular expression that no RegExp can be: one value must not make the whole message unreadable.
      return Uint8Array.from(value);
    }
  };
  return [
    { type: Type.UNDEFINED, decode: () => undefined },
    // Of memory of its own: the bytes are the message's, and an ObjectId keeps them.
    { type: Type.OBJECT_ID, decode: (bytes) => new ObjectId(Buffer.from(bytes)) },
    { type: Type.BSON, decode: (bytes) => read(bytes, deserializeOptions) },
    { type: Type.BSON_OF_DOCUMENTS, decode: (bytes) => read(bytes, deserializeFieldOptions) },
    {
      type: Type.BIGINT,
      decode: (bytes) => BigInt.asIntN(8 * bytes.length, BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)),
    },
  ];
}

/**
 * What makes an object of its values.
 * @param {MessagePackNames} names
 * @returns {(values: any[]) => object}
 */
function makerOf(names) {
  /** @type {{ name: string, make?: (values: any[]) => object }[]} */
  const properties = [];
  for (const name of names) {
    if (Array.isArray(name)) properties[properties.length - 1].make = makerOf(name);
    else properties.push({ name: /** @type {string} */ (name) });
  }
  return (values) => {
    /** @type {Record<string, unknown>} */
    const object = {};
    properties.forEach(({ name, make }, index) => {
      const value = make === undefined ? values[index] : make(values[index]);
      if (name !== '__proto__') object[name] = value;
      else
        Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
    });
    return object;
  };
}

/** @param {import('../index.js').MessagePackTable} table */
function fromMessagePackTable(table) {
  if (!Array.isArray(table)) {
    throw invalid(
      'table must be the array that a message was decoded to; of a batch, its changes or documents',
    );
  }
  return table.flatMap((entry) => {
    if (Array.isArray(entry?.names) && Array.isArray(entry.rows)) return entry.rows.map(makerOf(entry.names));
    if (typeof entry?.error === 'object') return [entry];
    throw invalid("table must hold { names, rows } and { error } only, as the layout 'table' is decoded to");
  });
}

module.exports = { fromMessagePackTable, messagePackExtensions };
