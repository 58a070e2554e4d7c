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

/** The sink refuses to store something: exit code 1. */
export class SinkError extends Error {
  name = 'SinkError';
}
