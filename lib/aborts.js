/**
 * What is to be done when a signal aborts, by the signal: one listener for all of it, as Node.js warns of many
 * listeners on one signal, and an application may well have one signal for all that it does.
 * @type {WeakMap<AbortSignal, { callbacks: Set<() => void>, listener: () => void }>}
 */
const known = new WeakMap();

/**
 * @param {AbortSignal} signal
 * @param {() => void} callback
 * @returns {() => void} lets the signal forget it
 */
function onAbort(signal, callback) {
  const { callbacks, listener } = known.get(signal) ?? listenTo(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    known.delete(signal);
  };
}

/** @param {AbortSignal} signal */
function listenTo(signal) {
  /** @type {Set<() => void>} */
  const callbacks = new Set();
  const listener = () => {
    for (const callback of callbacks) callback();
  };
  const entry = { callbacks, listener };
  known.set(signal, entry);
  signal.addEventListener('abort', listener, { once: true });
  return entry;
}

module.exports = { onAbort };
