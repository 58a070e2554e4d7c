// The README's chart, an SVG of bars, from a report of the benchmark: how many times as fast as the TypeScript
// converter, a bar a scenario, with a line where both would be equal.
import { byGroup, describeRun, ratio, shortened } from './format.mjs';
import { readReport } from './report-file.mjs';

const width = 860;
const labels = 330;
const barHeight = 14;
const rowHeight = 20;
const headingHeight = 32;
const top = 62;
const bottom = 16;
const scaleEnd = width - 56;

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text) => text.replace(/[&<>"]/g, (character) => escapes[character]);

/** Colours that read on white and on the dark page of a code host: the picture itself has no background. */
const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .heading { font-weight: 600; }
  .note { fill: #59636e; }
  .bar { fill: #2f74d0; }
  .equal { stroke: #b35900; stroke-width: 1.5; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #4c94f0; }
    .equal { stroke: #e0913a; }
  }
`;

const heading = (y, group) => `<text class="heading" x="12" y="${y + 22}">${escapeXml(group)}</text>`;

function bar(y, { title, ratios }, scale) {
  const length = ratios.typescript * scale;
  const baseline = y + barHeight - 3;
  return [
    `<text x="${labels - 8}" y="${baseline}" text-anchor="end">${escapeXml(shortened(title, 42))}</text>`,
    `<rect class="bar" x="${labels}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>`,
    `<text x="${(labels + length + 6).toFixed(1)}" y="${baseline}">${ratio(ratios.typescript)}</text>`,
  ].join('\n');
}

function draw(report) {
  const measured = report.scenarios.filter(({ ratios }) => ratios.typescript !== undefined);
  const scale = (scaleEnd - labels) / Math.max(1, ...measured.map(({ ratios }) => ratios.typescript));
  const shapes = [];
  let y = top;
  for (const [group, members] of byGroup(measured)) {
    shapes.push(heading(y, group));
    y += headingHeight;
    for (const scenario of members) {
      shapes.push(bar(y, scenario, scale));
      y += rowHeight;
    }
  }
  const equal = (labels + scale).toFixed(1);
  const title = 'Times as fast as the TypeScript converter';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y + bottom}" viewBox="0 0 ${width} ${y + bottom}" role="img">
<title>${title}</title>
<style>${style}</style>
<text class="title" x="12" y="24">${title}</text>
<text class="note" x="12" y="44">${escapeXml(describeRun(report))}; dashed line: equally fast</text>
${shapes.join('\n')}
<line class="equal" x1="${equal}" y1="${top}" x2="${equal}" y2="${y}"/>
</svg>`;
}

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: node benchmark/chart.mjs FILE\nFILE is what npm run bench -- --json FILE wrote.');
  process.exit(2);
}
console.log(draw(readReport(file)));
