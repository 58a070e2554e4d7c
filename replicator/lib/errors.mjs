// The errors that end a run with a message for the user. Any other error is a fault of the program.

/** What was asked for cannot be: exit code 2. */
export class UsageError extends Error {
  name = 'UsageError';
}

/** The input cannot be read any further: exit code 1. `offset` counts bytes of the uncompressed file. */
export class InputError extends Error {
  name = 'InputError';

  constructor(file, offset, reason, options) {
    super(offset === null ? `${file}: ${reason}` : `${file}: byte ${offset}: ${reason}`, options);
    this.file = file;
    this.offset = offset;
    this.reason = reason;
  }
}

/** One document or event cannot be converted, those behind it may be. */
export class DocumentError extends InputError {
  name = 'DocumentError';
  isSkippable = true;
}

/** The sink cannot store something: exit code 1. */
export class SinkError extends Error {
  name = 'SinkError';
  /** Whether `--on-error skip` would go on without what this is about. */
  isSkippable = false;
}

/** The sink refuses one change, the others would do: exit code 1. `index` is its place in the batch, from 0. */
export class RefusedError extends SinkError {
  name = 'RefusedError';
  isSkippable = true;

  constructor(index, message, options) {
    super(message, options);
    this.index = index;
  }
}

/** A connection was lost and could not be had again: exit code 3. */
export class ConnectionLostError extends Error {
  name = 'ConnectionLostError';
}
