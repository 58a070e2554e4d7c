// How long is waited between attempts, as it is announced.
import { expect, test } from 'vitest';
import { Backoff } from '../lib/backoff.mjs';

/** One digit is announced. */
const ROUNDING = 0.05;

const announced = (notice) => Number(/^trying again in ([\d.]+) s \(\d+ of 8\)$/.exec(notice)[1]);

test('a wait is twice the last one or up to a quarter more, and never above 15 s', () => {
  for (let round = 0; round < 100; round++) {
    const backoff = new Backoff({ retries: 8, retryDelay: 1000 });
    for (const least of [1, 2, 4, 8, 12, 12, 12, 12]) {
      const seconds = announced(backoff.failed().notice);
      expect(seconds).toBeGreaterThanOrEqual(least);
      expect(seconds).toBeLessThanOrEqual(least * 1.25 + ROUNDING);
    }
    expect(backoff.failed()).toBeNull();
    backoff.succeeded();
    expect(announced(backoff.failed().notice)).toBeLessThanOrEqual(1.25 + ROUNDING);
  }
});
