/** Repeatable randomness: the same in every run, so that a failure is of what was changed since the last. */

/** The seed of this run: `BSONROW_SEED`, or always the same one. */
export const seed = Number(process.env.BSONROW_SEED ?? 1);
if (!Number.isInteger(seed)) throw new Error('BSONROW_SEED must be an integer');

/** A generator of 32-bit integers (a Weyl sequence, mixed), always the same for a seed. */
export function createRandom(start = seed) {
  let state = start >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** That many random bytes. */
export function randomBytes(random, length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = random();
  return bytes;
}
