// Numbers on the command line.
import { InvalidArgumentError } from 'commander';

/** @param {number} least */
const wholeNumberFrom = (least) => (text) => {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < least) {
    throw new InvalidArgumentError(`It must be a whole number${least > 0 ? ' above 0' : ''}.`);
  }
  return number;
};

export const wholeNumber = wholeNumberFrom(1);
export const wholeNumberOrZero = wholeNumberFrom(0);
