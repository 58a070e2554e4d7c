// The bytes of a file, unpacked where it is gzip, in pieces of bounded size.
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../errors.mjs';

const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);
const CHUNK_BYTES = 256 * 1024;
/**
 * Compressed bytes given to zlib at a time. They unpack to at most 1,032 times as many, all of which are held
 * until the reader has taken them.
 */
const GZIP_CHUNK_BYTES = 16 * 1024;
const GZIP_OUTPUT_BYTES = 64 * 1024;

/**
 * @param {string} file
 * @param {(count: number) => void} onRead told how many bytes were read from the disk
 * @yields {Buffer} pieces, each of which is written over when the next is asked for
 * @throws InputError where the file cannot be read or unpacked, after the pieces before that
 */
export async function* readBytes(file, onRead) {
  let handle;
  try {
    handle = await open(file);
  } catch (error) {
    throw new InputError(file, null, reasonOf(error), { cause: error });
  }
  try {
    const magic = await fill(Buffer.alloc(GZIP_MAGIC.length), handle, onRead);
    if (magic.equals(GZIP_MAGIC)) yield* unpack(file, readChunks(magic, handle, GZIP_CHUNK_BYTES, onRead));
    else yield* readChunks(magic, handle, CHUNK_BYTES, onRead);
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (error.syscall === undefined) throw error;
    throw new InputError(file, null, reasonOf(error), { cause: error });
  } finally {
    await handle.close();
  }
}

/**
 * The bytes already read, then the rest; never by position, so that a pipe will do. The next piece of a file is read while
 * the one before is worked on; not of a pipe, as that could keep a run that is through waiting.
 */
async function* readChunks(head, handle, size, onRead) {
  const isFile = (await handle.stat()).isFile();
  const buffers = Array.from({ length: isFile ? 2 : 1 }, () => Buffer.allocUnsafeSlow(size));
  const readNext = () => {
    buffers.reverse();
    return fill(buffers[0], handle, onRead);
  };
  let chunk = head;
  while (chunk.length > 0) {
    const ahead = isFile ? readNext() : null;
    const settled = Promise.allSettled([ahead]);
    try {
      yield chunk;
    } finally {
      // Where nobody asks for more, the file is closed next, and the system may give its number to another.
      await settled;
    }
    chunk = await (ahead ?? readNext());
  }
}

/** The next bytes; fewer than fill the buffer only at the end of the file. */
async function fill(buffer, handle, onRead) {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
    onRead(bytesRead);
  }
  return buffer.subarray(0, length);
}

/**
 * zlib is driven one write at a time rather than piped: a stream that fails throws away what it has unpacked
 * and not handed over yet, and those documents are to be kept.
 */
async function* unpack(file, chunks) {
  const gunzip = createGunzip({ chunkSize: GZIP_OUTPUT_BYTES });
  let pieces = [];
  let unpacked = 0;
  gunzip.on('data', (piece) => {
    pieces.push(piece);
    unpacked += piece.length;
  });
  const failed = new Promise((_, reject) => gunzip.once('error', reject));
  // Awaited in each race below; this keeps a failure between two races from counting as unhandled.
  failed.catch(() => {});
  let failure = null;
  try {
    for await (const chunk of chunks) {
      failure = await settle(failed, (done) => gunzip.write(chunk, done));
      yield* pieces.splice(0);
      if (failure !== null) break;
    }
    if (failure === null) {
      failure = await settle(failed, (done) => {
        gunzip.once('end', done);
        gunzip.end();
      });
      yield* pieces.splice(0);
    }
  } finally {
    pieces = [];
    gunzip.destroy();
  }
  if (failure !== null) {
    throw new InputError(file, unpacked, `the gzip data is damaged: ${failure.message}`, { cause: failure });
  }
}

/** Runs one step of a stream: resolves to `null`, or to the error that the stream failed with. */
function settle(failed, step) {
  return Promise.race([new Promise((resolve) => step(resolve)), failed]).then(
    () => null,
    (error) => error,
  );
}

function reasonOf(error) {
  if (error.code === 'ENOENT') return 'there is no such file';
  if (error.code === 'EISDIR') return 'this is a directory';
  if (error.code === 'EACCES') return 'it may not be read';
  return error.message;
}
