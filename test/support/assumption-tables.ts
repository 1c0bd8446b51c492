import { anyStatus, refused } from "../../src/api/variation/variant.js";
import { variationTable } from "../../src/api/variation/vary.js";
import { type AssumptionRow, assumptionTable } from "../../src/domain/assumptions.js";

const table = (header: readonly string[], rows: readonly (readonly string[])[]) =>
  [header, header.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");

const code = (value: unknown) =>
  Array.isArray(value)
    ? value.map((one) => `\`${one}\``).join(", ")
    : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;

const varies = (name: string) =>
  variationTable.some(({ variants }) => variants.some(({ assume = {} }) => name in assume));

/** The table of the assumptions, in Markdown. */
export function assumptionsTable(): string {
  const rows = Object.entries(assumptionTable as Record<string, AssumptionRow<unknown>>).map(
    ([name, { minimal, typical, choices, meaning, gap }]) => [
      code(name),
      code(minimal),
      typical === undefined ? "the same" : code(typical),
      varies(name) ? "varies" : "as `minimal`",
      choices === undefined ? meaning : `${meaning} One of ${code(choices)}.`,
      gap,
    ],
  );
  return table(
    ["assumption", "`minimal`", "`typical`", "`varied`", "meaning", "what the specification leaves open"],
    rows,
  );
}

/** The rows of what varies without their prose: as the table of the page tells them, and as the sandbox has them. */
export function variationRows(page: string): { readonly told: string[][]; readonly real: string[][] } {
  const [, section = ""] = /\n## What varies\n([\s\S]*?)(?=\n## |$)/.exec(page) ?? [];
  const lines = section.split("\n").filter((line) => line.startsWith("| `"));
  return {
    told: lines.map((line) => {
      const [id = "", statuses = "", fixedBy = "", , variants = ""] = line
        .slice(2, -2)
        .split(/ \|(?: |(?= \|))/)
        .map((cell) => cell.trim());
      return [
        id,
        statuses,
        fixedBy,
        ...[...variants.matchAll(/(?:^|<br>)(`[^`]+`): \S/g)].map(([, name = ""]) => name),
      ];
    }),
    real: variationTable.map(({ id, statuses, fixedBy, variants }) => [
      code(id),
      statuses === anyStatus ? "all" : statuses === refused ? "errors" : statuses.join(", "),
      fixedBy === undefined ? "" : code(fixedBy),
      ...variants.map((one) => code(one.id)),
    ]),
  };
}
