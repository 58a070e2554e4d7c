// Puts the changes of a batch together into runs, which a sink can store by one statement each.

/**
 * @typedef {object} Run changes of one kind to one collection
 * @property {'insert' | 'update' | 'remove'} kind
 * @property {string} namespace
 * @property {import('./changes.mjs').Change[]} changes each with another key
 *
 * @typedef {object} SingleChange what concerns whole collections
 * @property {'single'} kind
 * @property {import('./changes.mjs').Change} change
 */

/**
 * The steps that end in the same rows as the changes one by one. A run ends where another kind of change touches
 * its collection; changes to other collections do not end it, as rows of two collections do not depend on each
 * other; what drops or renames a collection ends all runs.
 *
 * Of several changes to one key, a run keeps the last: each stores a whole row or removes one.
 * @param {import('./changes.mjs').Change[]} changes
 * @returns {(Run | SingleChange)[]}
 */
export function toRuns(changes) {
  const steps = [];
  /** Namespace → the run that may still grow. */
  const open = new Map();
  for (const change of changes) {
    if (change.kind !== 'put' && change.kind !== 'remove') {
      open.clear();
      steps.push({ kind: 'single', change });
      continue;
    }
    const kind = kindOf(change);
    let run = open.get(change.namespace);
    if (run?.kind !== kind) {
      run = { kind, namespace: change.namespace, byKey: new Map() };
      open.set(change.namespace, run);
      steps.push(run);
    }
    run.byKey.set(change.key.toString('latin1'), change);
  }
  return steps.map((step) =>
    step.kind === 'single'
      ? step
      : { kind: step.kind, namespace: step.namespace, changes: [...step.byKey.values()] },
  );
}

function kindOf({ kind, operation }) {
  if (kind === 'remove') return 'remove';
  return operation === 'update' || operation === 'replace' ? 'update' : 'insert';
}
