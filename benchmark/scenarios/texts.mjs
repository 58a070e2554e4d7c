// 100 KB of text that is not ASCII, as a column and inside a nested document.
import { objectId } from '../generate/bson.mjs';
import { text } from '../generate/text.mjs';
import { documentsOf } from './generated.mjs';

const scripts = { cyrillic: 'Cyrillic', chinese: 'Chinese', accented: 'accented Latin', emoji: 'emoji' };

const places = [
  { name: 'top-level', target: 1.2, wrap: (body) => ({ body }) },
  { name: 'nested', target: 4, wrap: (body) => ({ message: { body, read: false } }) },
];

export const texts = Object.entries(scripts).flatMap(([script, title]) =>
  places.map(({ name, target, wrap }) => ({
    id: `text-${script}-${name}`,
    title: `100 KB of ${title} text, ${name}`,
    group: 'Text',
    kind: 'row',
    targets: { typescript: target },
    documents: documentsOf(8, (random) => ({
      _id: objectId(random),
      ...wrap(text(random, script, 100_000)),
    })),
  })),
);
