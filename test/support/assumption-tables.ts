import { anyStatus, refused } from "../../src/api/variation/row.js";
import { variationTable } from "../../src/api/variation/table.js";
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

/** The table of what varies, in Markdown; the first variant of each row is what `minimal` does. */
export function variationsTable(): string {
  const rows = variationTable.map(({ id, statuses, fixedBy, gap, variants }) => [
    code(id),
    statuses === anyStatus ? "all" : statuses === refused ? "errors" : statuses.join(", "),
    fixedBy === undefined ? "" : code(fixedBy),
    gap,
    variants.map((one) => `${code(one.id)}: ${one.why}`).join("<br>"),
  ]);
  return table(
    ["row", "answers", "fixed by", "what is left open", "variants, and why a service might"],
    rows,
  );
}
