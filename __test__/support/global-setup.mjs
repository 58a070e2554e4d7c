/** Runs once before the tests: installs the oracle, and says what will be skipped and why. */
import { ensurePeer } from '../../benchmark/peer/install.mjs';
import { dataMissing } from './data.mjs';

export default function setup(project) {
  let peerMissing;
  try {
    ensurePeer();
  } catch (error) {
    peerMissing = `the TypeScript converter cannot be installed: ${error.message.split('\n')[0]}`;
  }
  project.provide('peerMissing', peerMissing);
  for (const reason of [peerMissing, dataMissing]) if (reason) console.warn(`Tests are skipped: ${reason}.`);
}
