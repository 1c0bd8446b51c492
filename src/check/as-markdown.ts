import { markdownTable, markdownText } from "../report/markdown.js";
import { conclusion, verdictWords } from "./conclusion.js";
import type { CheckReport } from "./report.js";

/** The report as GitHub's Markdown: tables, and the assumptions as a block of YAML. */
export function asMarkdown(report: CheckReport): string {
  const { url, requests, paths, rules, differences, assumptions, notes, stopped } = report;
  const head = [`# ${markdownText(url)}`, "", markdownText(conclusion(report)), ""];
  if (stopped !== undefined) return head.join("\n");
  return [
    ...head,
    `${requests === 1 ? "1 request was" : `${requests} requests were`} sent.`,
    "",
    ...(differences.length === 0
      ? []
      : markdownTable(
          ["rule", "path", "where", "expected", "found"],
          differences.map((one) => [one.rules.join(", "), one.pathId, one.at, one.expected, one.found]),
        )),
    ...markdownTable(
      ["path", "", "got", "key from", ""],
      paths.map(({ pathId, verdict, got = "", variable = "", reason = "" }) => [
        pathId,
        verdictWords[verdict],
        got,
        variable,
        reason,
      ]),
    ),
    ...markdownTable(
      ["rule", "", "in a few words", ""],
      rules.map(({ rule, verdict, title, reason = "" }) => [rule, verdictWords[verdict], title, reason]),
    ),
    "What was learned, for a scenario:",
    "",
    "```yaml",
    assumptions.trimEnd(),
    "```",
    ...notes.flatMap((note) => ["", markdownText(note)]),
    "",
  ].join("\n");
}
