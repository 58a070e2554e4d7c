// Lines of a table on the terminal.
import { shortened } from './format.mjs';

/**
 * @param {string[]} cells
 * @param {number[]} widths of the columns; a negative one aligns to the left, and cuts what is longer
 */
export function textLine(cells, widths) {
  const fitted = cells.map((cell, index) => {
    const width = widths[index];
    return width < 0 ? shortened(cell, -width).padEnd(-width) : cell.padStart(width);
  });
  return fitted.join(' ').trimEnd();
}
