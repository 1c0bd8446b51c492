import type { RowChoice } from "../../sandbox/variants.js";
import type { ClientRun } from "../client-runs/client-run.js";
import type { NotRepeated, Runs } from "../client-runs/runs.js";
import { pointId } from "../client-runs/varied-points.js";
import { bodyLengthRow, isCoveredBy, type RowCause, retryAfterRow, variedRows } from "./row-causes.js";
import { confirmRow } from "./row-confirmation.js";
import type { VariedTrials } from "./varied-trials.js";

// Which of the rows that varied in a run break the client alone?
// 1. The run is made again without the rows of known causes. If it passes, these explain it, and the search ends.
// 2. If it fails, one of the other rows breaks it, or several do. It is made again with half of them, then with half of the half that
//    fails, until one row is left.
// 3. This row must also break the run alone (row-confirmation.ts). Then it is a known cause, and the search continues with the first step.
// A trial that is not repeated ends the search: it is returned instead of a result.

/** How many trials must fail in a step of halving: one that fails by chance leads to a row that is not confirmed. */
const failuresOfStep = 1;

/** How many trials without the rows of known causes must fail before other rows are searched. */
const failuresWithoutCauses = 2;

/** `found`: these causes, with the known ones, explain the run. `not_found`: no row breaks the run alone that they do not explain. */
type SearchResult =
  | { readonly kind: "found"; readonly causes: readonly RowCause[] }
  | { readonly kind: "not_found" }
  | NotRepeated;

/** Whether causes explain a run. `otherRows`: the rows that varied in it, without those of the causes. */
type Explanation =
  | { readonly kind: "explained" }
  | { readonly kind: "unexplained"; readonly otherRows: readonly string[] }
  | NotRepeated;

/** The row that breaks a run, together with which others or alone. */
type Culprit = { readonly kind: "culprit"; readonly row: string } | NotRepeated;

/** What a search goes by. */
interface SearchBasis {
  readonly runs: Runs;
  /** The trials of the run that is searched. */
  readonly trials: VariedTrials;
  /** The varied runs that failed as this one did. */
  readonly failures: readonly ClientRun[];
}

/** Searches for the rows that break a run besides those of known causes. */
export async function searchRows(
  basis: SearchBasis,
  knownCauses: readonly RowCause[],
): Promise<SearchResult> {
  const { trials } = basis;
  const causes: RowCause[] = [];
  for (;;) {
    const explanation = await explainByCauses(trials, [...knownCauses, ...causes]);
    if (explanation.kind === "not_repeated") return explanation;
    if (explanation.kind === "explained") return { kind: "found", causes };
    const { otherRows } = explanation;
    if (otherRows.length === 0) return { kind: "not_found" };

    const culprit = await findCulprit(basis, otherRows);
    if (culprit.kind === "not_repeated") return culprit;
    const confirmation = await confirmRow(trials, culprit.row);
    if (confirmation.kind === "not_repeated") return confirmation;
    if (confirmation.kind === "passes") return { kind: "not_found" };
    causes.push(confirmation.cause);
  }
}

/** Whether these causes explain the run: it has rows of them, and passes while only its other rows vary. */
export async function explainByCauses(
  trials: VariedTrials,
  causes: readonly RowCause[],
): Promise<Explanation> {
  const rows = variedRows(trials.run);
  const otherRows = rows.filter((row) => !causes.some((cause) => isCoveredBy(cause, row)));
  if (otherRows.length === rows.length) return { kind: "unexplained", otherRows };

  const trial = await trials.varyOnly(onAllStatuses(otherRows), failuresWithoutCauses);
  if (trial.kind === "not_repeated") return trial;
  return trial.kind === "passes" ? { kind: "explained" } : { kind: "unexplained", otherRows };
}

/** Finds the row that breaks the run, of these, which break it together. What takes few runs comes first. */
async function findCulprit(basis: SearchBasis, rows: readonly string[]): Promise<Culprit> {
  const { trials } = basis;
  for (const row of likelyRows(trials.run, rows)) {
    const alone = await trials.varyOnly([{ row }], failuresOfStep);
    if (alone.kind === "not_repeated") return alone;
    if (alone.kind === "breaks") return { kind: "culprit", row };
  }

  // Fewer rows take fewer runs, if the culprit is among them.
  const suspicious = suspiciousRows(basis, rows);
  if (suspicious.length === 0 || suspicious.length === rows.length) return halve(trials, rows);
  const trial = await trials.varyOnly(onAllStatuses(suspicious), failuresOfStep);
  if (trial.kind === "not_repeated") return trial;
  return halve(trials, trial.kind === "breaks" ? suspicious : rows);
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

/** The rows that had, in each run that failed, a variant that no run had which passed. */
function suspiciousRows({ runs, failures }: SearchBasis, candidates: readonly string[]): readonly string[] {
  const harmlessPoints = new Set<string>();
  for (const { result, points } of runs.ended) {
    if (result !== "passed") continue;
    for (const point of points) harmlessPoints.add(pointId(point));
  }

  let suspicious = candidates;
  for (const { points } of failures) {
    const rowsOfFailure = new Set<string>();
    for (const point of points) {
      if (!harmlessPoints.has(pointId(point))) rowsOfFailure.add(point.row);
    }
    suspicious = suspicious.filter((row) => rowsOfFailure.has(row));
  }
  return suspicious;
}

/** Halves the rows until one remains. If the first half does not break the run, the second one does. */
async function halve(trials: VariedTrials, rows: readonly string[]): Promise<Culprit> {
  let remaining = rows;
  while (remaining.length > 1) {
    const middle = Math.ceil(remaining.length / 2);
    const firstHalf = remaining.slice(0, middle);
    const trial = await trials.varyOnly(onAllStatuses(firstHalf), failuresOfStep);
    if (trial.kind === "not_repeated") return trial;
    remaining = trial.kind === "breaks" ? firstHalf : remaining.slice(middle);
  }
  return { kind: "culprit", row: remaining[0] as string }; // halves of one row or more have one
}

function onAllStatuses(rows: readonly string[]): RowChoice[] {
  return rows.map((row) => ({ row }));
}
