// Numbers on the command line.
import { InvalidArgumentError } from 'commander';

export function wholeNumber(text) {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number === 0) {
    throw new InvalidArgumentError('It must be a whole number above 0.');
  }
  return number;
}
