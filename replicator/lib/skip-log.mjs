// The file of what `--on-error skip` left out: a line of JSON each, with all that is needed to bring it in later.
import { appendFileSync } from 'node:fs';
import { SinkError } from './errors.mjs';
import { overflowJson } from './sink/values.mjs';

export class SkipLog {
  #file;

  /** @param {string} file made with the first entry; later runs append to it */
  constructor(file) {
    this.#file = file;
  }

  /** A document or event that cannot be converted: where it stood, why, and its bytes. */
  document({ place, reason, bytes }) {
    this.#append({ place, reason, bson: bytes.toString('base64') });
  }

  /**
   * A change that the sink refuses.
   * @param {import('./changes.mjs').Change} change
   */
  change(change, reason) {
    const { operation, namespace, key, row } = change;
    const entry = { operation, namespace, key: key?.toString('hex'), reason };
    this.#append(entry, row === undefined ? '' : `,"row":${overflowJson(Object.entries(row))}`);
  }

  /** `more` are further members, as JSON: integers beyond 2^53 keep their digits that way. */
  #append(entry, more = '') {
    const members = JSON.stringify({ time: new Date().toISOString(), ...entry }).slice(0, -1);
    try {
      appendFileSync(this.#file, `${members}${more}}\n`);
    } catch (error) {
      throw new SinkError(`${this.#file}: the skip log cannot be written: ${error.message}`, {
        cause: error,
      });
    }
  }
}
