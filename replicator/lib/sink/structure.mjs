// What concerns whole collections: the same in every catalogue of tables.
import { databaseOf } from '../namespace.mjs';

/**
 * @param {{ find: Function, entries: Function, drop: Function, rename: Function }} catalog
 * @param {import('../changes.mjs').Change} change `drop`, `dropDatabase` or `rename`
 * @param {Pick<import('./sink.mjs').SinkOptions, 'isSelected' | 'onWarning'>} options
 */
export function applyStructure(catalog, { kind, namespace, to, database }, { isSelected, onWarning }) {
  switch (kind) {
    case 'drop':
      catalog.drop(namespace);
      return;
    case 'dropDatabase':
      // Tables of collections that this run does not replicate are another's.
      for (const [name] of catalog.entries()) {
        if (databaseOf(name) === database && isSelected(name)) catalog.drop(name);
      }
      return;
    case 'rename':
      if (catalog.find(namespace) !== undefined) {
        catalog.rename(namespace, to);
      } else {
        // Its documents are not known here; those of the collection it took the place of are gone.
        catalog.drop(to);
        onWarning(`${namespace} was renamed to ${to}, but no document of it has been replicated`);
      }
  }
}
