/**
 * Rows that nobody keeps are collected with the young objects, whatever batch was the first: see
 * lib/allocation-sites.js.
 */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { runScript } from './support/run-script.mjs';

const { countedAsShortLived, EARLY_CALLS } = createRequire(import.meta.url)('../lib/allocation-sites.js');

it('makes a second object in every second of the early calls, and then settles', () => {
  let made = 0;
  const settled = [];
  const make = (a, b) => {
    made += 1;
    return { a, b, made };
  };
  const first = countedAsShortLived(make, (settledMake) => settled.push(settledMake));
  expect([first(1, 2), first(3, 4), first(5, 6)]).toEqual([
    { a: 1, b: 2, made: 1 },
    { a: 3, b: 4, made: 3 },
    { a: 5, b: 6, made: 4 },
  ]);
  for (let call = 4; call < EARLY_CALLS; call++) first();
  expect(settled).toEqual([]);
  first();
  expect(settled).toEqual([make]);
  expect(made).toBe(1.5 * EARLY_CALLS);
});

describe('memory of rows that nobody keeps', () => {
  // Room for several batches: a collection while the first is kept finds each of its rows alive.
  const FLAGS = ['--expose-gc', '--min-semi-space-size=16', '--max-semi-space-size=16'];

  it('does not become old because the first batch lived on', () => {
    const grown = runScript(
      `
      import { getHeapSpaceStatistics } from 'node:v8';
      const { serialize } = require('bson');
      const names = Array.from({ length: 12 }, (_, index) => 'column' + index);
      const documents = Array.from({ length: 2000 }, (_, serial) =>
        Buffer.from(serialize({ _id: serial, ...Object.fromEntries(names.map((name) => [name, name + ' of ' + serial])) })));
      const converter = new addon.NativeSourceRowConverter(1);
      const old = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
      const convert = (times) => {
        for (let time = 0; time < times; time++) converter.convertDocuments(documents);
      };
      let kept = converter.convertDocuments(documents);
      gc({ type: 'minor' });
      kept = undefined;
      convert(10);
      gc();
      const before = old();
      let most = 0;
      for (let time = 0; time < 24; time++) {
        convert(1);
        most = Math.max(most, old() - before);
      }
      report(most / 2 ** 20);
      `,
      FLAGS,
    );
    expect(grown).toBeLessThan(2);
  });
});
