// A report's table, in Markdown: printed, or put into the README in place of the last one.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { asyncLines } from './report/async.mjs';
import { benchLines } from './report/bench.mjs';
import { floorLines } from './report/floor.mjs';
import { growthLines } from './report/growth.mjs';
import { objectIdLines } from './report/object-ids.mjs';
import { snapshotLines } from './report/snapshot.mjs';
import { tailerLines } from './report/tailer.mjs';
import { workersLines } from './report/workers.mjs';
import { readReport } from './report-file.mjs';

const usage = `Usage: node benchmark/report.mjs [--write] FILE

Prints the table of FILE, which a benchmark wrote for its option --json. With --write the table is put into README.md,
between the marks of that benchmark.`;

const readme = fileURLToPath(new URL('../README.md', import.meta.url));

const linesOf = {
  async: asyncLines,
  bench: benchLines,
  floor: floorLines,
  growth: growthLines,
  'object-ids': objectIdLines,
  snapshot: snapshotLines,
  tailer: tailerLines,
  workers: workersLines,
};

/** Puts lines between the marks of a benchmark. @throws {Error} where README.md has no such marks */
function writeIntoReadme(benchmark, lines) {
  const [start, end] = ['start', 'end'].map((side) => `<!-- ${benchmark}:${side} -->`);
  const text = readFileSync(readme, 'utf8');
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`README.md has no ${start} before ${end}`);
  writeFileSync(readme, [text.slice(0, from) + start, '', ...lines, '', text.slice(to)].join('\n'));
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { write: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    if (positionals.length === 1) return { ...values, file: positionals[0] };
  } catch {
    // The usage says it.
  }
  console.error(usage);
  process.exit(2);
}

const { file, write } = readArguments();
const report = readReport(file);
const lines = linesOf[report.benchmark](report);
if (!write) {
  console.log(lines.join('\n'));
} else if (report.quick) {
  console.error(`${file} is of a run with --quick, whose figures say little: README.md stays as it is`);
  process.exitCode = 1;
} else {
  writeIntoReadme(report.benchmark, lines);
}
