// The file of what `--on-error skip` left out: a line of JSON each, with all that is needed to bring it in later.
import { accessSync, appendFileSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SinkError } from './errors.mjs';
import { overflowJson } from './sink/values.mjs';

export class SkipLog {
  #file;

  /** @param {string} file made with the first entry; later runs append to it */
  constructor(file) {
    this.#file = file;
  }

  /** @throws SinkError where it cannot be written to; found out before anything is to be left out */
  check() {
    const [place, access] = existsSync(this.#file)
      ? [this.#file, constants.W_OK]
      : [dirname(this.#file), constants.W_OK | constants.X_OK];
    this.#attempt(() => accessSync(place, access));
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
    this.#attempt(() => appendFileSync(this.#file, `${members}${more}}\n`));
  }

  #attempt(work) {
    try {
      work();
    } catch (error) {
      throw new SinkError(`${this.#file}: the skip log cannot be written: ${error.message}`, {
        cause: error,
      });
    }
  }
}
