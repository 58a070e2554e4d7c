// A sink that stores nothing: dry runs, and measuring all but the sink.

/** @implements {import('./sink.mjs').Sink} */
export class NullSink {
  #namespaces = new Set();

  async readPosition() {
    return null;
  }

  async claim() {
    return new Map();
  }

  async apply(changes) {
    for (const { kind, namespace } of changes) {
      if (kind === 'put') this.#namespaces.add(namespace);
    }
  }

  async reset() {}

  async refresh() {}

  async tables(isWanted = () => true) {
    return [...this.#namespaces]
      .filter(isWanted)
      .sort()
      .map((namespace) => ({ namespace, table: null, rows: null }));
  }

  async firstRows() {
    return { columns: [], rows: [] };
  }

  async close() {}
}
