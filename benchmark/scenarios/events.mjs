// A whole change event: `parseChangeDocument`, then `rawToSqliteRow` of its document.
import { insertEvent, updateEvent } from '../generate/event.mjs';
import { documentsOf } from './generated.mjs';
import { sizes } from './sizes.mjs';

const targets = { '1 KB': { typescript: 9 } };

const scenario = (operation, generate, { name, bytes }) => ({
  id: `${operation}-${name.replace(' ', '').toLowerCase()}`,
  title: `${operation} event, ${name} document`,
  group: 'Change events',
  kind: 'event',
  targets: targets[name],
  documents: documentsOf(16, (random) => generate(random, bytes)),
});

export const events = sizes.flatMap((size) => [
  scenario('insert', insertEvent, size),
  scenario('update', updateEvent, size),
]);
