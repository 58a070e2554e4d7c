// Tables in Markdown, aligned in their source text as well.

/**
 * @param {string[]} head
 * @param {string[][]} rows of as many cells; all but the first column are aligned to the right
 * @returns {string[]}
 */
export function markdownTable(head, rows) {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)));
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const padded = (cells) =>
    line(
      cells.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      ),
    );
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [padded(head), line(rule), ...rows.map(padded)];
}
