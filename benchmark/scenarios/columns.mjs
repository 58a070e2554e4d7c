// Many columns, changing columns, new columns: what the row object itself costs.
import { everNew, mixed, wide } from '../generate/columns.mjs';
import { documentsOf } from './generated.mjs';

export const columns = [
  {
    id: 'columns-100',
    title: 'document of 100 columns',
    targets: { typescript: 7 },
    documents: documentsOf(16, (random) => wide(random, 100)),
  },
  {
    id: 'columns-mixed',
    title: '32 sets of columns, mixed',
    documents: documentsOf(1024, mixed),
  },
  {
    // More documents than anything that remembers names can be expected to keep.
    id: 'columns-ever-new',
    title: 'ever-new column names',
    documents: documentsOf(8192, everNew),
  },
].map((scenario) => ({ ...scenario, group: 'Columns', kind: 'row' }));
