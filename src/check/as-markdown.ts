import { conclusion, verdictWords } from "./conclusion.js";
import type { CheckReport } from "./report.js";

/** The report as GitHub's Markdown: tables, and the assumptions as a block of YAML. */
export function asMarkdown(report: CheckReport): string {
  const { url, requests, paths, rules, differences, assumptions, notes, stopped } = report;
  const head = [`# ${escaped(url)}`, "", escaped(conclusion(report)), ""];
  if (stopped !== undefined) return head.join("\n");
  return [
    ...head,
    `${requests === 1 ? "1 request was" : `${requests} requests were`} sent.`,
    "",
    ...(differences.length === 0
      ? []
      : table(
          ["rule", "path", "where", "expected", "found"],
          differences.map((one) => [one.rules.join(", "), one.pathId, one.at, one.expected, one.found]),
        )),
    ...table(
      ["path", "", "got", "key from", ""],
      paths.map(({ pathId, verdict, got = "", variable = "", reason = "" }) => [
        pathId,
        verdictWords[verdict],
        got,
        variable,
        reason,
      ]),
    ),
    ...table(
      ["rule", "", "in a few words", ""],
      rules.map(({ rule, verdict, title, reason = "" }) => [rule, verdictWords[verdict], title, reason]),
    ),
    "What was learned, for a scenario:",
    "",
    "```yaml",
    assumptions.trimEnd(),
    "```",
    ...notes.flatMap((note) => ["", escaped(note)]),
    "",
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line), ""];
}

// What a server sent must not end a cell, begin a tag, or mention anybody. An underscore within a word is none of those.
function escaped(text: string): string {
  return text.replace(
    /[\\|`*<[\]~&@]|(?<![a-z0-9])_|_(?![a-z0-9])/gi,
    (found) => `&#${found.charCodeAt(0)};`,
  );
}
