// A whole change event: by the calls of the TypeScript converter, `parseChangeDocument` and then `rawToSqliteRow` of its
// document, and by the one call that stands for both.
import { insertEvent, updateEvent } from '../generate/event.mjs';
import { documentsOf } from './generated.mjs';
import { sizes } from './sizes.mjs';

/** The calls of this addon; the other contenders have one way only. */
const ways = [
  { kind: 'event', group: 'Change events by parseChangeDocument and rawToSqliteRow', suffix: '', call: '' },
  {
    kind: 'change',
    group: 'Change events by convertChange',
    suffix: '-change',
    call: ', convertChange',
    targets: { '1 KB': { typescript: 9 } },
  },
];

const operations = { insert: insertEvent, update: updateEvent };

export const events = ways.flatMap(({ kind, group, suffix, call, targets }) =>
  sizes.flatMap(({ name, bytes }) =>
    Object.entries(operations).map(([operation, generate]) => ({
      id: `${operation}-${name.replace(' ', '').toLowerCase()}${suffix}`,
      title: `${operation} event, ${name} document${call}`,
      group,
      kind,
      targets: targets?.[name],
      documents: documentsOf(16, (random) => generate(random, bytes)),
    })),
  ),
);
