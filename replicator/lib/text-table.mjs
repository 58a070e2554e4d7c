// Plain text tables, cut to the width of a terminal.
import stringWidth from 'string-width';

const GAP = '  ';
const ELLIPSIS = '…';

/**
 * @param {string[]} header
 * @param {string[][]} rows
 * @param {{ width?: number, maxColumn?: number, right?: number[] }} options `right`: columns aligned right
 * @returns {string[]} lines; columns that find no room in `width` are left out, and counted
 */
export function renderTable(header, rows, { width = Infinity, maxColumn = Infinity, right = [] } = {}) {
  const cells = [header, ...rows].map((row) => row.map((cell) => cutText(printable(cell), maxColumn)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column]))));
  let shown = 0;
  for (let used = 0; shown < widths.length; shown += 1) {
    used += widths[shown] + (shown > 0 ? GAP.length : 0);
    if (used > width && shown > 0) break;
  }
  const hidden = widths.length - shown;
  const lines = cells.map((row) =>
    row
      .slice(0, shown)
      .map((cell, column) => pad(cell, widths[column], right.includes(column)))
      .join(GAP)
      .trimEnd(),
  );
  lines.splice(1, 0, '─'.repeat(Math.min(width, sum(widths.slice(0, shown)) + GAP.length * (shown - 1))));
  if (hidden > 0) lines.push(`(${hidden} more ${hidden === 1 ? 'column' : 'columns'})`);
  return lines;
}

/** Text with its control characters made visible: no value may steer the terminal. */
export function printable(text) {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (c) => {
    return `\\u${c.codePointAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The text, or as much of it as fits with an ellipsis. */
export function cutText(text, width) {
  if (stringWidth(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, 4 * width))) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    cut += segment;
  }
  return cut + ELLIPSIS;
}

function pad(text, width, toTheRight) {
  const space = ' '.repeat(width - stringWidth(text));
  return toTheRight ? space + text : text + space;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
