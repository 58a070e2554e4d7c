/** Runs a piece of JavaScript in a Node.js process of its own, for flags and for crashes. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {string} source an ECMAScript module; `require` and all exports of the addon, as `addon`, are in scope
 * @param {string[]} flags of `node`
 * @returns what the script gave to `report`, through JSON
 */
export function runScript(source, flags = []) {
  const prelude = `
    import { createRequire } from 'node:module';
    const require = createRequire(${JSON.stringify(`${folder}script.mjs`)});
    const addon = require('../../index.js');
    const report = (value) => process.stdout.write(JSON.stringify(value));
  `;
  const output = execFileSync(
    process.execPath,
    [...flags, '--input-type=module', '--eval', prelude + source],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  return JSON.parse(output);
}
