// The documents of one file, in the order of the file.
import { InputError } from '../errors.mjs';
import { readBytes } from './bytes.mjs';
import { DocumentFramer, FramingError } from './framing.mjs';

/**
 * @param {string} file
 * @param {(count: number) => void} onRead told how many bytes were read from the disk
 * @yields {import('./framing.mjs').RawDocument[]} the documents that each piece of the file completes;
 *   their bytes are written over when the next are asked for
 * @throws InputError for damage, after all documents before it have been yielded
 */
export async function* readDocuments(file, onRead = () => {}) {
  const framer = new DocumentFramer();
  try {
    for await (const chunk of readBytes(file, onRead)) {
      const documents = [];
      try {
        framer.push(chunk, documents);
      } catch (error) {
        yield documents;
        throw error;
      }
      yield documents;
    }
    framer.end();
  } catch (error) {
    if (error instanceof FramingError)
      throw new InputError(file, error.offset, error.message, { cause: error });
    throw error;
  }
}
