/**
 * The oracle: the TypeScript converter from npm, run as a black box. `global-setup.mjs` has installed it, or has said
 * why it cannot be had; the tests that compare with it are then skipped.
 */
import { inject } from 'vitest';

/** Why there is no oracle; undefined where there is one. */
export const peerMissing = inject('peerMissing');

/** The oracle's exports. */
export const peer = peerMissing ? undefined : await import('../../benchmark/peer/index.mjs');

/** Why the oracle cannot read change events here; undefined where it can. */
export const changeStreamMissing = peerMissing ?? peer.parseChangeDocumentMissing;

/** One oracle converter a date render mode. */
export const oracles = peer
  ? [0, 1, 2].map((mode) => new peer.DirectSourceRowConverter(peer.contextFor(mode)))
  : [];
