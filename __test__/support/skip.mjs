/** Skips that can be seen: the reason stands in the title. */
import { describe, it } from 'vitest';

/** `describe`, or where there is a reason against it, a skipped test that names the reason. */
export function describeUnless(reason, title, body) {
  if (reason) describe(title, () => it.skip(`skipped: ${reason}`, () => {}));
  else describe(title, body);
}
