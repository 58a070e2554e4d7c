// What a run prints at its end.
import { cutText, printable, renderTable } from './text-table.mjs';
import { countOf, MIB } from './units.mjs';

const MAX_CELL = 28;
/** A nested value can be megabytes of JSON; a cell shows but its beginning. */
const MAX_CELL_INPUT = 4 * MAX_CELL;

/**
 * @param {import('./report.mjs').Report} report
 * @param {import('./sink/sink.mjs').TableInfo[]} tables
 * @returns {string[]} lines
 */
export function renderSummary(report, tables) {
  const lines = [];
  const operations = [...report.operations].sort(([, a], [, b]) => b - a).map(([name, n]) => `${n} ${name}`);
  const read = `Read: ${countOf(report.documents, 'document')}${operations.length > 0 ? ` (${operations.join(', ')})` : ''}`;
  lines.push(printable(read));
  if (report.alreadyApplied > 0) lines.push(`Already applied by an earlier run: ${report.alreadyApplied}`);

  const namespaces = new Set([...report.collections.keys(), ...tables.map(({ namespace }) => namespace)]);
  const byNamespace = new Map(tables.map((info) => [info.namespace, info]));
  const rows = [...namespaces].sort().map((namespace) => {
    const { puts = 0, removes = 0 } = report.collections.get(namespace) ?? {};
    const { table, rows: count } = byNamespace.get(namespace) ?? {};
    return [namespace, String(puts), String(removes), count == null ? '–' : String(count), table ?? '–'];
  });
  if (rows.length > 0) {
    lines.push(
      '',
      ...renderTable(['Collection', 'Stored', 'Removed', 'Rows now', 'Table'], rows, { right: [1, 2, 3] }),
    );
  }

  lines.push('', ...renderTimes(report));
  if (report.warnings.size > 0) {
    lines.push('', 'Warnings:');
    for (const [message, { count, first }] of report.warnings) {
      lines.push(printable(`  ${count} × ${message}; first: ${first}`));
    }
  }
  return lines;
}

function renderTimes({ bytes, wallTime, converterTime, sinkTime, documents }) {
  const mebibytes = bytes / MIB;
  const perSecond = (milliseconds) => (milliseconds > 0 ? (mebibytes / milliseconds) * 1000 : 0).toFixed(1);
  const rate = wallTime > 0 ? Math.round((documents / wallTime) * 1000) : 0;
  return [
    `${mebibytes.toFixed(2)} MiB of BSON in ${seconds(wallTime)}: ${perSecond(wallTime)} MiB/s, ${rate} documents/s`,
    `Converter: ${seconds(converterTime)} (${perSecond(converterTime)} MiB/s); sink: ${seconds(sinkTime)}`,
  ];
}

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(3)} s`;

/**
 * The first rows of a table.
 * @param {string} name
 * @param {import('./sink/sink.mjs').TableHead} head
 * @param {number} width of the terminal
 */
export function renderHead(name, { columns, rows }, width) {
  const cells = rows.map((row) => row.map(renderCell));
  return [printable(name), ...renderTable(columns, cells, { width, maxColumn: MAX_CELL })];
}

function renderCell(value) {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) {
    const hex = Buffer.from(value.subarray(0, MAX_CELL_INPUT)).toString('hex');
    return cutText(`x'${hex}'`, MAX_CELL);
  }
  return String(value).slice(0, MAX_CELL_INPUT);
}
