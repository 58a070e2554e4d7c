// One document of twelve columns, at three sizes.

/** Sizes in bytes: what a small document takes, and the same with one ASCII string of 9 and 99 KB more. */
export const sizes = [
  { name: '1 KB', bytes: 963 },
  { name: '10 KB', bytes: 10_163 },
  { name: '100 KB', bytes: 102_463 },
];
