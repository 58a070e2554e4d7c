/** The pages of `docs/`: their examples run, and print what the pages show. */
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { examplesOf } from './support/examples.mjs';

const pages = readdirSync(new URL('../docs', import.meta.url)).filter((name) => name.endsWith('.md'));

it('there are pages', () => expect(pages).toContain('message-pack.md'));

for (const page of pages) {
  it(page, () => {
    const { shown, printed } = examplesOf(`docs/${page}`);
    expect(shown).not.toBe('');
    expect(printed).toBe(shown);
  });
}
