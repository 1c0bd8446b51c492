import { nextRequest } from "../api/next-request.js";
import { alignColumns, textWidth } from "../report/plain-text.js";
import { keyStateAt } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { Endpoint } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { secretsByRef } from "../sandbox/secrets.js";
import { type Palette, paintStatus, responseText } from "./terminal.js";

/** A row of the table of keys: what a request with this key gets. */
export interface KeyRow {
  readonly ref: string;
  readonly secret: string;
  readonly status: number;
  readonly code: string | null;
  readonly outcome: OutcomeId;
  /** The fault outcomes in which it, or a later one like it, may end instead. */
  readonly fault_outcomes: readonly OutcomeId[];
}

/** The keys of a sandbox, and what each one gets now, as in the JSON of `keys`: with members that the table does not show. */
export function keyRows(
  sandbox: SandboxState,
  secrets = secretsByRef(sandbox),
  endpoint?: Endpoint,
): KeyRow[] {
  const now = sandbox.clock.now();
  const rows: KeyRow[] = [];
  for (const [ref, secret] of Object.entries(secrets)) {
    const { key } = sandbox.registry.key(ref);
    const { organization, environment } = key;
    const shownInJson = { organization, environment, state: keyStateAt(key, now) };
    rows.push({ ref, ...shownInJson, secret, ...nextResult(sandbox, ref, endpoint) });
  }
  return rows;
}

/** What the next request with a key gets, as a row has it. */
export function nextResult(sandbox: SandboxState, ref: string, endpoint?: Endpoint) {
  const { status, code, outcome, faultOutcomes } = nextRequest(sandbox, ref, endpoint);
  return { status, code, outcome, fault_outcomes: faultOutcomes };
}

/** The titles of columns. */
const titles = {
  ref: "KEY",
  secret: "SECRET",
  response: "A REQUEST GETS",
  status: "GETS",
  outcome: "OUTCOME",
} as const;
type Column = keyof typeof titles;

/** The columns of a table, the widest table first. */
const layouts: readonly (readonly Column[])[] = [
  ["ref", "secret", "response", "outcome"],
  ["ref", "secret", "response"],
  // If the refs are short, this table fits into 80 characters.
  ["ref", "secret", "status"],
];

/** Returns the lines of the widest table that fits; of the narrowest, if none does. */
export function keyTable(rows: readonly KeyRow[], palette: Palette, width: number): string[] {
  let lines: string[] = [];
  for (const columns of layouts) {
    const cells = [columns.map((column) => palette.dim(titles[column]))];
    for (const row of rows) cells.push(columns.map((column) => cellText(row, column, palette)));
    lines = alignColumns(cells);
    if (lines.every((line) => textWidth(line) <= width)) return lines;
  }
  return lines;
}

function cellText(row: KeyRow, column: Column, palette: Palette): string {
  const { status, fault_outcomes: faults } = row;
  if (column === "outcome") return [row.outcome, ...faults].join(" or ");
  if (column === "ref" || column === "secret") return row[column];

  const response = column === "response" ? responseText(row) : String(status);
  let cell = paintStatus(palette, status)(response);
  // The specification promises the status, and leaves its code open.
  if (column === "response" && status === 429) cell += " (code not promised)";
  if (faults.length > 0) cell += " or a fault";
  return cell;
}
