// Whether captures are read in the order in which they were taken: an older event turns a row back.

export class EventOrder {
  /** The last event of each collection: its time, and the file it stood in. */
  #last = new Map();

  /**
   * Whether an event is older than the last one of its collection, which stood in another file. (Within a file, what
   * captured it decides.)
   * @param {string} file
   * @param {string} namespace
   * @param {unknown} time `clusterTime`
   */
  goesBack(file, namespace, time) {
    if (time?._bsontype !== 'Timestamp') return false;
    const last = this.#last.get(namespace);
    this.#last.set(namespace, { file, time });
    return last !== undefined && last.file !== file && time.lessThan(last.time);
  }
}
