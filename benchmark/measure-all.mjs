// The course of every benchmark: scenarios in turn, a line of the table as each ends, the report on disk after each.

import { writeReport } from './report-file.mjs';
import { skippedLine } from './table.mjs';

/**
 * @template {{ title: string }} Scenario
 * @param {object} report takes the figures
 * @param {Scenario[]} scenarios
 * @param {object} how
 * @param {(scenario: Scenario) => Promise<{ node: string, skipped?: string }>} how.measure `skipped`: why there is nothing
 *   else
 * @param {(scenario: Scenario, result: any) => any} [how.figuresOf] the figures of what was measured; default: its property
 *   `figures`
 * @param {(report: object) => string[]} how.headerLines
 * @param {(figures: any) => string[]} how.lines
 * @param {string} [how.json] the file for the report
 */
export async function measureAll(report, scenarios, { measure, figuresOf, headerLines, lines, json }) {
  for (const scenario of scenarios) {
    const result = await measure(scenario);
    if (report.node === undefined) {
      report.node = result.node;
      console.log(headerLines(report).join('\n'));
    }
    if (result.skipped !== undefined) {
      console.log(skippedLine({ title: scenario.title, skipped: result.skipped }));
      continue;
    }
    const figures = figuresOf === undefined ? result.figures : figuresOf(scenario, result);
    report.scenarios.push(figures);
    console.log(lines(figures).join('\n'));
    writeReport(json, report);
  }
}
