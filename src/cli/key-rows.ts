import { evaluateKey } from "../api/evaluate.js";
import { expectedCode } from "../api/messages.js";
import { keyStateAt } from "../domain/api-key.js";
import { outcomeOf } from "../domain/outcomes.js";
import { textWidth } from "../domain/printable.js";
import { alignColumns } from "../report/plain-text.js";
import { scenarioSecrets } from "../world/secrets.js";
import type { World } from "../world/world.js";
import { answerText, type Palette, paintStatus, type Style } from "./terminal.js";

/** A key of the scenario and how a request with it would end now. */
export type KeyRow = ReturnType<typeof keyRows>[number];

/** The keys of the scenario in its order, or those of them whose secrets are given. */
export function keyRows(world: World, secrets = scenarioSecrets(world)) {
  const now = world.clock.now();
  return Object.entries(secrets).map(([ref, secret]) => {
    const { key } = world.registry.key(ref);
    const { pathId, faultPaths } = evaluateKey(world, ref);
    return {
      ref,
      organization: key.organization,
      environment: key.environment,
      state: keyStateAt(key, now),
      secret,
      status: outcomeOf(pathId).status,
      code: expectedCode(world, pathId),
      path_id: pathId,
      /** The paths of faults that it may end on instead. */
      fault_paths: faultPaths,
    };
  });
}

const titles = {
  ref: "KEY",
  organization: "ORGANIZATION",
  state: "STATE",
  secret: "SECRET",
  answer: "A REQUEST GETS",
  status: "GETS",
  path: "PATH",
} as const;
type Column = keyof typeof titles;

const layouts: readonly (readonly Column[])[] = [
  ["ref", "organization", "state", "secret", "answer", "path"],
  ["ref", "secret", "answer", "path"],
  ["ref", "secret", "answer"],
  // As a rule this fits into 80 characters.
  ["ref", "secret", "status"],
];

/**
 * The rows as an aligned table under a line of titles, with as many columns as fit into the width; `holder` asks for the
 * organizations and the states as well.
 */
export function keyTable(
  rows: readonly KeyRow[],
  { palette, width }: Pick<Style, "palette" | "width">,
  { holder = false } = {},
): string[] {
  const tables = layouts.slice(holder ? 0 : 1).map((columns) => {
    const body = rows.map((row) => columns.map((column) => cellOf(row, column, palette)));
    return alignColumns([columns.map((column) => palette.dim(titles[column])), ...body]);
  });
  return firstThatFits(tables, width);
}

/** The first table whose lines are within the width, else the last one. */
export function firstThatFits(tables: readonly string[][], width: number): string[] {
  const fits = (lines: readonly string[]) => lines.every((line) => textWidth(line) <= width);
  return tables.find(fits) ?? tables.at(-1) ?? [];
}

function cellOf(row: KeyRow, column: Column, palette: Palette): string {
  const { status, path_id, fault_paths } = row;
  if (column === "path") return [path_id, ...fault_paths].join(" or ");
  if (column !== "answer" && column !== "status") return row[column];
  const answer = column === "answer" ? answerText(row) : String(status);
  return paintStatus(palette, status)(answer) + (fault_paths.length === 0 ? "" : " or a fault");
}
