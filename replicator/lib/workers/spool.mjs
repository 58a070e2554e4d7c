// The memory through which messages go from the process that reads to one that applies: a file without a name, open in
// both, with room for several messages, one of which is applied while the others wait.
//
// A pipe holds 200 KB, and moves only while the event loops at both its ends turn, which stand still while a transaction
// is written: reading and applying would take turns instead of going on side by side.
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync, rmSync, statfsSync, writevSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SinkError } from '../errors.mjs';

/**
 * So many messages may be on their way: enough that reading goes on while SQLite folds its log into the file, which takes as
 * long as reading four. Orders of 98 KB a second with 2: 3,671, with 4: 4,124, with 6: 4,119.
 */
export const SLOTS = 4;
/** Farther apart than any message is long. The file is sparse: it takes the space of the longest in each slot. */
const SLOT_BYTES = 2 ** 34;
/** A file system in memory, where there is one with room enough. */
const IN_MEMORY = '/dev/shm';
const MIN_FREE_BYTES = SLOTS * 128 * 1024 * 1024;

export class Spool {
  fd;

  constructor() {
    const file = join(folderFor(), `bsonrow-${process.pid}-${randomUUID()}`);
    try {
      this.fd = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
      rmSync(file);
    } catch (error) {
      throw new SinkError(`no file can be made for messages: ${error.message}`, { cause: error });
    }
  }

  /**
   * @param {number} slot
   * @param {Uint8Array[]} parts of one message, in order
   * @returns {number} its length
   */
  write(slot, parts) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length === 0) return 0;
    let written;
    try {
      written = writevSync(this.fd, parts, slot * SLOT_BYTES);
    } catch (error) {
      throw new SinkError(`a message cannot be handed over: ${error.message}`, { cause: error });
    }
    if (written < length) throw new SinkError('a message cannot be handed over: no space is left for it');
    return length;
  }

  close() {
    closeSync(this.fd);
  }
}

/** The same in the other process. */
export class SpoolReader {
  #fd;
  /** For one message after the other: new memory for each would take the system longer than reading does. */
  #memory = Buffer.alloc(0);

  constructor(fd) {
    this.#fd = fd;
  }

  /** @returns {Buffer} which the next call writes over */
  read(slot, length) {
    if (this.#memory.length < length) this.#memory = Buffer.allocUnsafeSlow(length + (length >> 3));
    let got = 0;
    while (got < length) {
      const count = readSync(this.#fd, this.#memory, got, length - got, slot * SLOT_BYTES + got);
      if (count === 0) throw new Error('a message is shorter than it was announced');
      got += count;
    }
    return this.#memory.subarray(0, length);
  }
}

function folderFor() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (bavail * bsize >= MIN_FREE_BYTES) return IN_MEMORY;
  } catch {
    // Not on this system.
  }
  return tmpdir();
}
