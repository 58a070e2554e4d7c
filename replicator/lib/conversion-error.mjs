// Bytes that cannot be converted.

/** `offset` counts from the start of the document or event. */
export class ConversionError extends Error {
  name = 'ConversionError';

  constructor(offset, reason, options) {
    super(reason, options);
    this.offset = offset;
  }
}

/** The converter's message, and the element it speaks of. */
export function describeConversion(error) {
  return error.path?.length > 0 ? `${error.message} (at ${error.path.join('.')})` : error.message;
}

/** The same of an event put together from fragments, whose offsets are none of its source. */
export function describeMerged(error) {
  return `${error.message}, at byte ${error.offset} of the event put together from its fragments`;
}
