import type { RowChoice } from "../../sandbox/variants.js";
import { failuresOfHalf, failuresWithoutCauses } from "../checks/chance.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { bodyLengthRow, isCoveredBy, type RowCause, retryAfterRow, variedRows } from "./row-causes.js";
import { confirmRow } from "./row-confirmation.js";
import type { TrialResult, VariedTrials } from "./varied-trials.js";

// Which of the rows that varied in a run break the client alone?
// 1. The run is made again without the rows of known causes. If it passes, these explain it, and the search ends.
// 2. If it fails, one of the other rows breaks it, or several do. It is made again with half of them, then with half of the half that
//    fails, until one row is left.
// 3. This row must also break the run alone (row-confirmation.ts). Then it is a known cause, and the search continues with the first step.

/** What breaks one run: rows, of which `newCauses` were not known before; its seed without any row; or nothing that can be told. */
export type FailureCause =
  | { readonly kind: "rows"; readonly newCauses: readonly RowCause[] }
  | { readonly kind: "seed" | "unknown" };

/** Searches for the rows that break a run besides those of known causes. `unknown`: no row breaks the run alone that they do not explain. */
export async function searchRows(
  trials: VariedTrials,
  knownCauses: readonly RowCause[],
): Promise<FailureCause> {
  const newCauses: RowCause[] = [];
  for (;;) {
    const causes = [...knownCauses, ...newCauses];
    const trial = await tryWithout(trials, causes);
    if (trial.kind === "passes") return { kind: "rows", newCauses };
    const rows = otherRows(trials.run, causes);
    if (rows.length === 0) return { kind: "unknown" };

    const culprit = await findCulprit(trials, rows);
    const confirmation = await confirmRow(trials, culprit);
    if (confirmation.kind === "unconfirmed") return { kind: "unknown" };
    newCauses.push(confirmation.cause);
  }
}

/** Tries the run without the rows of these causes: if it passes, they explain it. */
export async function tryWithout(trials: VariedTrials, causes: readonly RowCause[]): Promise<TrialResult> {
  const { run } = trials;
  const rows = otherRows(run, causes);
  const hasRowsOfCauses = rows.length < variedRows(run).length;
  // The run itself has failed without their rows: it is the trial.
  if (!hasRowsOfCauses) return { kind: "breaks", shownBy: run };
  return trials.varyOnly(onAllStatuses(rows), failuresWithoutCauses);
}

/** The rows that varied in a run, without those of the causes. */
function otherRows(run: ClientRun, causes: readonly RowCause[]): string[] {
  return variedRows(run).filter((row) => !causes.some((cause) => isCoveredBy(cause, row)));
}

/** Finds the row that breaks the run, of these, which break it together. What takes few runs comes first. */
async function findCulprit(trials: VariedTrials, rows: readonly string[]): Promise<string> {
  for (const row of likelyRows(trials.run, rows)) {
    const alone = await trials.varyOnly([{ row }], failuresOfHalf);
    if (alone.kind === "breaks") return row;
  }
  return halve(trials, rows);
}

/** Those of the rows that are tried alone, before any others. */
function likelyRows({ result }: ClientRun, rows: readonly string[]): string[] {
  const likely: string[] = [];
  // A long body would explain several of the other rows.
  if (rows.includes(bodyLengthRow)) likely.push(bodyLengthRow);
  // A client that waits as long as a response asks takes long in each trial that fails.
  if (result === "timed_out" && rows.includes(retryAfterRow)) likely.push(retryAfterRow);
  return likely;
}

/** Halves the rows until one remains. If the first half does not break the run, the second one does. */
async function halve(trials: VariedTrials, rows: readonly string[]): Promise<string> {
  let remaining = rows;
  while (remaining.length > 1) {
    const middle = Math.ceil(remaining.length / 2);
    const firstHalf = remaining.slice(0, middle);
    const trial = await trials.varyOnly(onAllStatuses(firstHalf), failuresOfHalf);
    remaining = trial.kind === "breaks" ? firstHalf : remaining.slice(middle);
  }
  return remaining[0] as string; // halves of one row or more have one
}

function onAllStatuses(rows: readonly string[]): RowChoice[] {
  return rows.map((row) => ({ row }));
}
