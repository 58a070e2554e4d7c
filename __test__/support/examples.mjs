/**
 * The examples of a Markdown page. A `js` block that loads bsonrow begins a program, which the blocks behind it go on
 * with; what it prints stands in comments, a `// → ` a line, and in `text` blocks.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const BLOCK = /^```(js|text)\n(.*?)^```$/gms;
const SHOWN = /^\/\/ → (.*\n)/gm;
const BEGIN = /'bsonrow'/;

/**
 * The programs of a page, and what it says that they print.
 * @param {string} path of the page, from the project's folder
 * @returns {{ source: string, shown: string }[]}
 */
export function examplesOf(path) {
  const page = readFileSync(`${root}/${path}`, 'utf8');
  const programs = [];
  for (const [, language, text] of page.matchAll(BLOCK)) {
    if (language === 'js' && BEGIN.test(text)) programs.push({ source: '', shown: '' });
    const program = programs.at(-1);
    if (language === 'text') program.shown += text;
    else {
      program.source += text;
      for (const [, line] of text.matchAll(SHOWN)) program.shown += line;
    }
  }
  return programs;
}

/** What a program prints. @param {string} source a module with `import`, or a script with `require` */
export function printedBy(source) {
  const type = /^import /m.test(source) ? 'module' : 'commonjs';
  return execFileSync(process.execPath, [`--input-type=${type}`, '--eval', source], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
}
