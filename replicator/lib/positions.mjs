// How far a source was applied, as a sink keeps it: an entry of the source, and, while several processes apply it, one
// of each that has got further.
//
// All changes that concern whole collections are applied by one process while the others wait, and leave nothing but
// the source's own entry, which then holds for all. So the entries of a source never have such a change between them.
import { UsageError } from './errors.mjs';
import { applierOf } from './workers/routing.mjs';

/** @returns {string} the entry of one of several processes, `index` from 0 */
export const partOf = (source, index, count) => `${source} part ${index + 1} of ${count}`;

/** The entry that says which run may write the others. */
export const claimOf = (source) => `${source} run`;

const PART = /^ part \d+ of (\d+)$/;

/** Of a source, by the names of its entries. */
export const isEntryOf = (source, name) =>
  name === source ||
  name === claimOf(source) ||
  (name.startsWith(source) && PART.test(name.slice(source.length)));

/**
 * What a source knows of its positions.
 * @typedef {object} PositionOrder
 * @property {(position: string | null) => number | string | null} of places compare as the positions do; `null` for a
 *   position that cannot be compared
 * @property {(position: string | null) => string | null} ownerOf the only collection that changes come from behind
 *   this position, until one that concerns all; `null` where they come from several
 */

/**
 * @typedef {object} Resumption
 * @property {string | null} position where to go on; what some processes have applied behind it comes again
 * @property {(number | string | null)[]} covered by process: up to where it has applied, if further than that
 * @property {string[]} forget entries to be taken out in favour of the source's own, set to `position`
 */

/**
 * Where to go on.
 * @param {Map<string, string>} entries of the source
 * @param {string} source
 * @param {number} count processes that apply
 * @param {PositionOrder | null} order needed for several
 * @returns {Resumption}
 * @throws UsageError where an earlier run with another number was cut short
 */
export function resume(entries, source, count, order) {
  const own = entries.get(source) ?? null;
  const nothingCovered = new Array(count).fill(null);
  const begun = countOfParts(entries, source);
  if (begun === null) return { position: own, covered: nothingCovered, forget: [] };

  const names = partsOf(source, begun);
  const positions = names.map((name) => entries.get(name) ?? own);
  if (positions.every((position) => position === positions[0]))
    return { position: positions[0], covered: nothingCovered, forget: names };
  if (begun !== count) {
    throw new UsageError(
      `the run before was begun with --workers ${begun + 1} and was cut short: go on with that, or begin anew with --fresh`,
    );
  }
  const owner = order.ownerOf(own);
  if (owner !== null)
    return { position: positions[applierOf(owner, count)], covered: nothingCovered, forget: [] };
  const places = positions.map((position) => order.of(position));
  // What cannot be compared is applied again from where all of them were.
  if (places.includes(null)) return { position: own, covered: nothingCovered, forget: [] };
  const earliest = places.reduce((least, place, index) => (place < places[least] ? index : least), 0);
  return { position: positions[earliest], covered: places, forget: [] };
}

/** @returns {string[]} the entries of all processes */
export const partsOf = (source, count) =>
  Array.from({ length: count }, (_, index) => partOf(source, index, count));

function countOfParts(entries, source) {
  for (const name of entries.keys()) {
    const match = PART.exec(name.slice(source.length));
    if (match !== null) return Number(match[1]);
  }
  return null;
}

/**
 * Where a run goes on that applies by itself.
 * @param {import('./sink/sink.mjs').Sink} sink
 * @param {string} source
 * @returns {Promise<string | null>}
 */
export async function resumeAlone(sink, source) {
  const { position, forget } = resume(await sink.claim(source, null), source, 1, null);
  if (forget.length > 0) await sink.apply([], { source, position, forget });
  return position;
}
