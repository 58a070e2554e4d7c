// Tables for the terminal: width, wide characters, control characters; and the progress bar.
import { Writable } from 'node:stream';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { startProgress } from '../lib/progress.mjs';
import { cutText, printable, renderTable } from '../lib/text-table.mjs';

test('columns are as wide as their widest cell, wide characters counted twice', () => {
  expect(
    renderTable(
      ['a', 'number'],
      [
        ['茶杯', '1'],
        ['é', '22'],
      ],
      { right: [1] },
    ),
  ).toEqual(['a     number', '────────────', '茶杯       1', 'é         22']);
});

test('no line passes the width; columns without room are counted', () => {
  const header = Array.from({ length: 9 }, (_, i) => `column ${i}`);
  for (let width = 10; width < 120; width += 1) {
    const lines = renderTable(header, [header], { width, maxColumn: 10 });
    for (const line of lines.slice(0, 3)) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    const shown = lines[0].split(/ {2}/).length;
    if (shown < 9) expect(lines.at(-1)).toBe(`(${9 - shown} more ${shown === 8 ? 'column' : 'columns'})`);
  }
});

test('a long text is cut between characters', () => {
  expect(cutText('abcdef', 6)).toBe('abcdef');
  expect(cutText('abcdefg', 6)).toBe('abcde…');
  expect(cutText('茶杯茶杯', 6)).toBe('茶杯…');
  expect(cutText('👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 4)).toBe('👩‍👩‍👧‍👦…');
});

test('no value steers the terminal', () => {
  expect(printable('a\u001b[2Jb\u009b\n\u202e')).toBe('a\\u001b[2Jb\\u009b\\u000a\\u202e');
});

describe('progress', () => {
  function makeStream(isTTY) {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        stream.text += chunk;
        done();
      },
    });
    return Object.assign(stream, {
      text: '',
      isTTY,
      columns: 100,
      cursorTo() {},
      clearLine() {},
      moveCursor() {},
    });
  }

  test('a bar on a terminal, up to its end', () => {
    const stream = makeStream(true);
    const progress = startProgress(2 * 1024 * 1024, { quiet: false, stream });
    progress.addBytes(2 * 1024 * 1024);
    progress.setDocuments(7);
    progress.stop();
    expect(stream.text).toContain('100% | 2.0 of 2.0 MiB | 7 documents');
  });

  test('nothing for a short run elsewhere, and nothing at all when quiet', () => {
    for (const [isTTY, quiet] of [
      [false, false],
      [true, true],
    ]) {
      const stream = makeStream(isTTY);
      const progress = startProgress(10, { quiet, stream });
      progress.addBytes(10);
      progress.setDocuments(1);
      progress.stop();
      expect(stream.text).toBe('');
    }
  });
});
