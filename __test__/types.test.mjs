/** The expected table, through every public path that makes rows, and the oracle against the same table. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bufferToSqlite, DateRenderMode, NativeSourceRowConverter } from '../index.js';
import { element, string, Type, withId } from './support/bson-bytes.mjs';
import { expectRow } from './support/outcome.mjs';
import { oracles, peer, peerMissing } from './support/peer.mjs';
import { PLACES } from './support/places.mjs';
import { describeUnless } from './support/skip.mjs';
import { inMode, TYPE_TABLE } from './support/type-table.mjs';

const MODES = Object.entries(DateRenderMode);
const converters = MODES.map(([, mode]) => new NativeSourceRowConverter(mode));

const PATHS = {
  rawToSqliteRow: (bytes, mode) => converters[mode].rawToSqliteRow(bytes).row,
  bufferToSqlite: (bytes, mode) => bufferToSqlite(bytes, mode),
};

/** Every entry of the table in one place and mode, through one path. */
function expectTable(convert, place, mode) {
  for (const entry of TYPE_TABLE) {
    expectRow(convert(place.bytes(entry), mode), place.row(entry, mode), entry.name);
  }
}

it('has values of all 21 element types', () => {
  expect(new Set(TYPE_TABLE.map((entry) => entry.type))).toEqual(new Set(Object.values(Type)));
});

for (const [pathName, convert] of Object.entries(PATHS)) {
  describe(pathName, () => {
    for (const [placeName, place] of Object.entries(PLACES)) {
      for (const [modeName, mode] of MODES) {
        it(`${placeName}, ${modeName}`, () => expectTable(convert, place, mode));
      }
    }
  });
}

/** Bytes of the texts of a row that pass together. */
const TOGETHER = Number(
  readFileSync(new URL('../src/parts.rs', import.meta.url), 'utf8').match(/MAX_TOGETHER: usize = (\d+);/)[1],
);
/** More than any text of the table that is no text of the source. */
const LONGEST = 48;

it('a value for which the other texts leave room, or a part of it, or none', () => {
  for (let left = -1; left <= LONGEST; left++) {
    const filler = 'f'.repeat(TOGETHER - left);
    for (const { type, payload: bytes, column, name } of TYPE_TABLE) {
      const source = withId(string('filler', filler), element(type, 'v', bytes), string('after', 'after'));
      for (const mode of Object.values(DateRenderMode)) {
        expectRow(
          bufferToSqlite(source, mode),
          { _id: 1n, filler, v: inMode(column, mode), after: 'after' },
          name,
        );
      }
    }
  }
});

describeUnless(peerMissing, 'the TypeScript converter gives the same table', () => {
  for (const [placeName, place] of Object.entries(PLACES)) {
    for (const [modeName, mode] of MODES) {
      it(`${placeName}, ${modeName}`, () => {
        expectTable((bytes) => peer.bufferToSqlite(bytes, mode), place, mode);
        expectTable((bytes) => oracles[mode].rawToSqliteRow(bytes).row, place, mode);
      });
    }
  }
});
