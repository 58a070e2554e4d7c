// What the generated scenarios have in common: a few distinct documents, from a seed of their own.
import { serialize } from '../generate/bson.mjs';
import { Random } from '../generate/random.mjs';

/**
 * @param {number} count how many distinct documents are walked through
 * @param {(random: Random, serial: number) => object} generate
 * @returns {() => Buffer[]}
 */
export const documentsOf = (count, generate) => () => {
  const random = new Random(0x5eed);
  return Array.from({ length: count }, (_, serial) => serialize(generate(random, serial)));
};
