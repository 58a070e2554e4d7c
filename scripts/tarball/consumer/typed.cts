// Compiled, not run: the types as a CommonJS module sees them.
import bsonrow = require('bsonrow');

export const mode: bsonrow.DateRenderMode = bsonrow.DateRenderMode.ISO_MILLISECONDS;
export const converter: bsonrow.NativeSourceRowConverter = new bsonrow.NativeSourceRowConverter(mode);
