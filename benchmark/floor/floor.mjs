// The converter that makes its answers from constants.
import { contenders } from '../contenders.mjs';
import { loadFloor } from './addon.mjs';
import { answerOf } from './answer.mjs';
import { memory } from './build.mjs';

const createFloor = loadFloor();

/** The function of a floor, and what makes the answers that it leaves to whoever calls. */
function withMakers(convert, answers) {
  if (answers.every(({ make }) => make === undefined)) return convert;
  const makers = answers.map(({ make }) => make);
  let next = 0;
  return (source) => {
    const value = convert(source);
    const make = makers[next];
    next = next + 1 === makers.length ? 0 : next + 1;
    return make === undefined ? value : make(value);
  };
}

/**
 * @param {string} kind of the documents
 * @param {Buffer[]} documents
 * @param {import('./answer.mjs').Way} way
 * @returns {(source: Buffer) => any} the floor's answers to documents in their order
 */
export function floorOf(kind, documents, way) {
  const convert = contenders.bsonrow[kind];
  const answers = documents.map((document) =>
    answerOf(convert(document), way, {
      isReply: kind === 'batch',
      shared: kind === 'sharedRow' ? document : undefined,
    }),
  );
  return withMakers(createFloor(memory, answers), answers);
}
