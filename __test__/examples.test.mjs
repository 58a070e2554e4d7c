/** The pages of `docs/`: their examples run, and print what the pages show. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examplesOf, printedBy } from './support/examples.mjs';

const pages = readdirSync(new URL('../docs', import.meta.url)).filter((name) => name.endsWith('.md'));

it('there are pages', () => expect(pages).toContain('message-pack.md'));

for (const page of pages) {
  describe(page, () => {
    const examples = examplesOf(`docs/${page}`);
    it('has examples', () => expect(examples.length).toBeGreaterThan(0));
    examples.forEach(({ source, shown }, index) => {
      it(`example ${index + 1}`, () => {
        expect(shown).not.toBe('');
        expect(printedBy(source)).toBe(shown);
      });
    });
  });
}
