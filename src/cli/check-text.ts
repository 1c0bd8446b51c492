import { conclusion, verdictWords } from "../check/conclusion.js";
import type { Difference } from "../check/observation.js";
import type { CheckReport, Verdict } from "../check/report.js";
import { alignColumns } from "../report/align-columns.js";
import type { Palette } from "./palette.js";

/** The report of a check for people, with a line end. */
export function checkText(report: CheckReport, palette: Palette): string {
  const { url, requests, maxRequests, paths, rules, differences, assumptions, notes } = report;
  const paintOf: Readonly<Record<Verdict, (text: string) => string>> = {
    agrees: palette.green,
    differs: palette.red,
    not_tried: palette.dim,
  };
  const table = (rows: readonly (readonly [string, Verdict, ...string[]])[]) =>
    alignColumns(
      rows.map(([name, verdict, ...rest]) => [name, verdictWords[verdict], ...rest]),
      (text, row, column) => (column === 1 ? paintOf[rows[row]?.[1] ?? "not_tried"](text) : text),
    ).map((line) => `  ${line}`);
  const lines = [
    `Checked ${url} with ${requests} of at most ${maxRequests} requests`,
    "",
    palette.bold("Paths"),
    ...table(
      paths.map((one) => [
        one.pathId,
        one.verdict,
        [one.got, one.variable, one.reason].filter(isText).join(", "),
      ]),
    ),
    "",
    palette.bold("Rules"),
    ...table(
      rules.map(({ rule, verdict, title, reason }) => [
        rule,
        verdict,
        isText(reason) ? `${title} (${reason})` : title,
      ]),
    ),
    ...(differences.length === 0 ? [] : ["", palette.bold("Differences")]),
    ...differences.flatMap((one) => differenceLines(one, palette)),
    "",
    palette.bold("What was learned, for a scenario"),
    "",
    assumptions,
    ...notes.map((note) => `${note}\n`),
    (report.verdict === "agrees" ? palette.green : palette.red)(conclusion(report)),
    "",
  ];
  return lines.join("\n");
}

function differenceLines(
  { rules, pathId, at, expected, found, requestId }: Difference,
  palette: Palette,
): string[] {
  const id = requestId === undefined ? "" : palette.dim(`  request ${requestId}`);
  return [
    `  ${palette.red(pathId)}  ${at}  ${rules.join(", ")}${id}`,
    `    expected  ${expected}`,
    `    found     ${found}`,
  ];
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
