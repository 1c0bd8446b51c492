import { nextRequest } from "../api/predict.js";
import { alignColumns } from "../report/plain-text.js";
import { type Environment, type KeyStateName, keyStateAt } from "../rules/api-key.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { textWidth } from "../rules/terminal-text.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { secretFor, secretsFor } from "../sandbox/secrets.js";
import { type Palette, paintStatus, responseText } from "./terminal.js";

/** A row of the table of keys. */
interface ListedKey {
  readonly ref: string;
  readonly secret: string;
  readonly status: number;
  readonly code: string | null;
  readonly outcome: OutcomeId;
  /** The fault outcomes where it may end instead. */
  readonly fault_outcomes: readonly OutcomeId[];
}

/** A key as `keys` prints it. */
export interface KeyRow extends ListedKey {
  readonly organization: string;
  readonly environment: Environment;
  readonly state: KeyStateName;
}

export function keyRows(sandbox: SandboxState, secrets = secretsFor(sandbox), endpoint?: Endpoint): KeyRow[] {
  const now = sandbox.clock.now();
  return Object.entries(secrets).map(([ref, secret]) => {
    const { key } = sandbox.registry.key(ref);
    const { organization, environment } = key;
    const state = keyStateAt(key, now);
    return { ref, organization, environment, state, secret, ...nextResult(sandbox, ref, endpoint) };
  });
}

/** Rows for the two refs that every scenario has. `keys` lists only keys. */
export function rejectedRows(sandbox: SandboxState): ListedKey[] {
  return ["malformed", "unknown"].map((ref) => {
    return { ref, secret: secretFor(sandbox, ref), ...nextResult(sandbox, ref) };
  });
}

function nextResult(sandbox: SandboxState, ref: string, endpoint?: Endpoint) {
  const { status, code, outcome, faultOutcomes } = nextRequest(sandbox, ref, endpoint);
  return { status, code, outcome, fault_outcomes: faultOutcomes };
}

const titles = {
  ref: "KEY",
  secret: "SECRET",
  response: "A REQUEST GETS",
  status: "GETS",
  outcome: "OUTCOME",
} as const;
type Column = keyof typeof titles;

const layouts: readonly (readonly Column[])[] = [
  ["ref", "secret", "response", "outcome"],
  ["ref", "secret", "response"],
  // This one fits into 80 characters if the refs are short.
  ["ref", "secret", "status"],
];

export function keyTable(rows: readonly ListedKey[], palette: Palette, width: number): string[] {
  const tables = layouts.map((columns) => {
    const body = rows.map((row) => columns.map((column) => cellOf(row, column, palette)));
    return alignColumns([columns.map((column) => palette.dim(titles[column])), ...body]);
  });
  const fits = (lines: readonly string[]) => lines.every((line) => textWidth(line) <= width);
  return tables.find(fits) ?? tables.at(-1) ?? [];
}

function cellOf(row: ListedKey, column: Column, palette: Palette): string {
  const { status, outcome, fault_outcomes } = row;
  if (column === "outcome") return [outcome, ...fault_outcomes].join(" or ");
  if (column === "ref" || column === "secret") return row[column];
  const response = column === "response" ? responseText(row) : String(status);
  // The specification promises the status, and leaves its code open.
  const open = column === "response" && status === 429 ? " (code not promised)" : "";
  return paintStatus(palette, status)(response) + open + (fault_outcomes.length === 0 ? "" : " or a fault");
}
