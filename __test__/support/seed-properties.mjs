/** Gives the properties of each test file the seed of the run. */
import fc from 'fast-check';
import { seed } from './random.mjs';

fc.configureGlobal({ seed });
