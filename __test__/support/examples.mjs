/** The examples of a Markdown page: its `js` blocks are one module; its `text` blocks are what that prints. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BLOCK = /^```(js|text)\n(.*?)^```$/gms;

/**
 * @param {string} path of the page, from the project's folder
 * @returns {{ shown: string, printed: string }} what the page says that its examples print, and what they print
 */
export function examplesOf(path) {
  const page = readFileSync(`${root}/${path}`, 'utf8');
  const blocks = [...page.matchAll(BLOCK)];
  const textOf = (language) => blocks.filter(([, each]) => each === language).map(([, , text]) => text);
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', textOf('js').join('')], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { shown: textOf('text').join(''), printed };
}
