import { conclusion, counted } from "./conclusion.js";
import { lineIn } from "./instruction.js";
import { type MarkdownCell, markdownTable, markdownText } from "./markdown.js";
import type { Report, ReportedRequest } from "./report.js";
import { visible } from "./visible.js";

/** The report as GitHub's Markdown, for the summary of a CI job: tables of the paths and of the advice. */
export function asMarkdown(report: Report, reasons: readonly string[]): string {
  const { scenario, seed, profile, requests, paths, advice } = report;
  const shown = paths.filter(({ promised, met }) => promised || met);
  return [
    `# ${markdownText(conclusion(report))}`,
    "",
    markdownText(
      `${counted(requests, "request")} to ${visible(scenario)} (seed ${seed}, profile ${profile}).`,
    ),
    "",
    ...reasons.flatMap((reason) => [`**${markdownText(reason)}**`, ""]),
    ...markdownTable(
      ["path", "requests", "", "when", "how to meet it"],
      shown.map(({ pathId, promised, met, count, when, howToMeet }) => [
        pathId,
        String(count),
        met ? (promised ? "met" : "not promised") : "missed",
        when,
        howToMeet === null ? "" : instructionCell(howToMeet),
      ]),
    ),
    ...(advice.length === 0
      ? []
      : markdownTable(
          ["level", "advice", "rule", "requests", "what happened", "what to do", "first"],
          advice.map(({ level, id, rule, count, meaning, whatToDo, examples }) => [
            level,
            id,
            rule,
            String(count),
            meaning,
            whatToDo,
            examples.slice(0, 1).map(requestText).join(""),
          ]),
        )),
  ].join("\n");
}

function instructionCell(howToMeet: string): MarkdownCell {
  const { words, line } = lineIn(howToMeet);
  return line === undefined ? words : { text: words, code: line };
}

function requestText({ at, method, path, key, fingerprint, didYouMean }: ReportedRequest): string {
  const meant = didYouMean === null ? "" : ` (did you mean ${didYouMean}?)`;
  return `${at} ${visible(method)} ${visible(path)}${meant}, ${key ?? fingerprint ?? "no key"}`;
}
