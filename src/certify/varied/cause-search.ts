import { lengtheningRows } from "../../api/variation/table.js";
import type { VariedPoint } from "../../sandbox/run-trace.js";
import type { RowChoice } from "../../sandbox/variants.js";
import type { ClientRun } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { pointId } from "../client-runs/varied-points.js";
import { type NotShown, notShown, type VariedTrials } from "./varied-trials.js";

// A row is a line of the variation table, such as `etag`; its variants are what a response can have there, and a point is a variant that
// the responses of one status had in a run. The search asks which of the rows that varied in a run break the client alone:
// 1. The run is made again without the rows of known causes. If it passes, these explain it, and the search ends.
// 2. If it fails, one of the other rows breaks it, or several do. It is made again with half of them, then with half of the half that
//    fails, until one row is left.
// 3. This row must also break the run alone. Then it is a known cause, and the search goes on with the first step.

/** How many trials must fail in a step of halving: one that fails by chance leads to a row that is not confirmed. */
const failuresOfStep = 1;

/** How many trials must fail before a cause explains nothing, and before a row is a cause, if it is on the responses of one status. */
const sureFailures = 2;

/** How many trials of a row on several statuses must fail: one more, since each status alone has passed a trial. */
const sureFailuresOfStatuses = 3;

/** A row that breaks a run alone, and without which the run passes. */
export interface RowCause {
  readonly row: string;
  /** What varied when it failed alone. */
  readonly points: readonly VariedPoint[];
  /** The run in which only this row varied. */
  readonly shownBy: ClientRun;
  /** The varied runs that fail for it. */
  readonly failed: readonly ClientRun[];
}

/** `found`: these causes, with the known ones, explain the run. */
type SearchResult = { readonly kind: "found"; readonly causes: readonly RowCause[] } | NotShown;

/** Whether a row breaks the run alone. */
type Confirmation = { readonly kind: "confirmed"; readonly cause: RowCause } | NotShown;

/** The row of bodies that are long. It explains each row that lengthens a body: only the length may break the client. */
export const bodyLengthRow = "body_length";
const longerBodyRows = [
  ...lengtheningRows.map(({ id }) => id),
  "organization.name_ending",
  "key.granted_scopes",
];

/** The row of the time after which a request may be sent again. */
export const retryAfterRow = "retry_after";

/** Whether the cause explains a failure with this row. */
export function isCoveredBy(cause: RowCause, row: string): boolean {
  return cause.row === row || (cause.row === bodyLengthRow && longerBodyRows.includes(row));
}

/** The rows that varied in a run, each once. */
export function variedRows({ points }: ClientRun): string[] {
  const rows = new Set<string>();
  for (const { row } of points) rows.add(row);
  return [...rows];
}

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
  while (!(await isExplainedBy(trials, [...knownCauses, ...causes]))) {
    const rows = rowsBesides(trials.run, [...knownCauses, ...causes]);
    if (rows.length === 0) return notShown;

    const culprit = await findCulprit(basis, rows);
    const confirmation = await confirmRow(trials, culprit);
    if (confirmation.kind === "not_shown") return notShown;
    causes.push(confirmation.cause);
  }
  return { kind: "found", causes };
}

/** Whether these causes explain the run: it has rows of them, and does not break while only its other rows vary. */
export async function isExplainedBy(trials: VariedTrials, causes: readonly RowCause[]): Promise<boolean> {
  const rows = rowsBesides(trials.run, causes);
  const hasRowsOfCauses = rows.length < variedRows(trials.run).length;
  if (!hasRowsOfCauses) return false;
  const trial = await trials.varyOnly(onAllStatuses(rows), sureFailures);
  return trial.kind === "not_shown";
}

/** The rows that varied in the run and that no cause explains. */
function rowsBesides(run: ClientRun, causes: readonly RowCause[]): string[] {
  return variedRows(run).filter((row) => !causes.some((cause) => isCoveredBy(cause, row)));
}

/** The rows that had, in each run that failed, a variant that no run had which passed. */
function suspiciousRows({ runs, failures }: SearchBasis, candidates: readonly string[]): readonly string[] {
  const harmlessPoints = new Set<string>();
  for (const { result, points } of runs.all) {
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

/** Finds the row that breaks the run, of these, which break it together. */
async function findCulprit(basis: SearchBasis, rows: readonly string[]): Promise<string> {
  const { trials } = basis;
  // A long body would explain several of the other rows.
  if (rows.includes(bodyLengthRow) && (await breaksAlone(trials, bodyLengthRow))) return bodyLengthRow;

  // A client that waits as long as it is told takes long in each trial that fails: this row is the most likely one.
  const isWaiting = trials.run.result === "timed_out" && rows.includes(retryAfterRow);
  if (isWaiting && (await breaksAlone(trials, retryAfterRow))) return retryAfterRow;

  // Fewer rows take fewer runs, if the culprit is among them.
  const suspects = suspiciousRows(basis, rows);
  if (suspects.length === 0 || suspects.length === rows.length) return halve(trials, rows);
  const trial = await trials.varyOnly(onAllStatuses(suspects), failuresOfStep);
  return halve(trials, trial.kind === "breaks" ? suspects : rows);
}

async function breaksAlone(trials: VariedTrials, row: string): Promise<boolean> {
  const trial = await trials.varyOnly([{ row }], failuresOfStep);
  return trial.kind === "breaks";
}

/** Halves the rows until one is left. If the first half does not break the run, the second one does. */
async function halve(trials: VariedTrials, rows: readonly string[]): Promise<string> {
  let left = rows;
  while (left.length > 1) {
    const middle = Math.ceil(left.length / 2);
    const firstHalf = left.slice(0, middle);
    const trial = await trials.varyOnly(onAllStatuses(firstHalf), failuresOfStep);
    left = trial.kind === "breaks" ? firstHalf : left.slice(middle);
  }
  return left[0] as string; // there is one
}

/** Confirms that a row breaks the run alone: on the responses of one status, which says more, or else on all that it varies. */
async function confirmRow(trials: VariedTrials, row: string): Promise<Confirmation> {
  const pointsOfRun = pointsOf(trials.run, row);
  const onStatusOfRun = await confirmOnOneStatus(trials, pointsOfRun);
  if (onStatusOfRun.kind === "confirmed") return onStatusOfRun;

  const alone = await trials.varyOnly([{ row }], failuresOfStep);
  if (alone.kind === "not_shown") return notShown;

  // A run stops at its first failure: alone, the row may have varied on more statuses than in the run.
  const points = uniquePoints([...pointsOfRun, ...pointsOf(alone.shownBy, row)]);
  const onStatusOfAlone = await confirmOnOneStatus(trials, points);
  if (onStatusOfAlone.kind === "confirmed") return onStatusOfAlone;

  const neededFailures = points.length === 1 ? sureFailures : sureFailuresOfStatuses;
  return confirmChoice(trials, { row }, points, neededFailures);
}

/** Confirms the first of several points that breaks the run alone. A single point needs no choice of a status. */
async function confirmOnOneStatus(
  trials: VariedTrials,
  points: readonly VariedPoint[],
): Promise<Confirmation> {
  if (points.length < 2) return notShown;
  for (const point of points) {
    const choice = { row: point.row, status: point.status };
    const confirmation = await confirmChoice(trials, choice, [point], sureFailures);
    if (confirmation.kind === "confirmed") return confirmation;
  }
  return notShown;
}

/** Confirms that the run breaks while only this varies. */
async function confirmChoice(
  trials: VariedTrials,
  choice: RowChoice,
  points: readonly VariedPoint[],
  neededFailures: number,
): Promise<Confirmation> {
  const trial = await trials.varyOnly([choice], neededFailures);
  if (trial.kind === "not_shown") return notShown;
  const { shownBy } = trial;
  return { kind: "confirmed", cause: { row: choice.row, points, shownBy, failed: [trials.run] } };
}

function onAllStatuses(rows: readonly string[]): RowChoice[] {
  return rows.map((row) => ({ row }));
}

function pointsOf({ points }: ClientRun, row: string): VariedPoint[] {
  return points.filter((point) => point.row === row);
}

function uniquePoints(points: readonly VariedPoint[]): VariedPoint[] {
  const byId = new Map<string, VariedPoint>();
  for (const point of points) byId.set(pointId(point), point);
  return [...byId.values()];
}
