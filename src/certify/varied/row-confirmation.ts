import type { VariedPoint } from "../../sandbox/run-trace.js";
import type { RowChoice } from "../../sandbox/variants.js";
import type { NotRepeated } from "../client-runs/runs.js";
import { pointId } from "../client-runs/varied-points.js";
import { pointsOfRow, type RowCause } from "./row-causes.js";
import type { VariedTrials } from "./varied-trials.js";

/** How many trials of a row on the responses of one status must fail before the row is a cause. One may fail by chance. */
const sureFailures = 2;

/** How many trials of a row on several statuses must fail: one more, since each status alone has passed a trial. */
const sureFailuresOfStatuses = 3;

/** Whether a row breaks a run alone. `passes`: a run in which only this row varied passed. */
type Confirmation =
  | { readonly kind: "confirmed"; readonly cause: RowCause }
  | { readonly kind: "passes" }
  | NotRepeated;

/** Confirms that a row breaks the run alone: on the responses of one status, which shows more, or else on all that it varies. */
export async function confirmRow(trials: VariedTrials, row: string): Promise<Confirmation> {
  // 1. On each status that the row varied in the run.
  const pointsOfRun = pointsOfRow(trials.run, row);
  const onStatusOfRun = await confirmOnOneStatus(trials, pointsOfRun);
  if (onStatusOfRun.kind !== "passes") return onStatusOfRun;

  // 2. On each status that it varies alone. A run stops at its first failure, so these may be more.
  const alone = await trials.varyOnly([{ row }], 1);
  if (alone.kind !== "breaks") return alone;
  const points = uniquePoints([...pointsOfRun, ...pointsOfRow(alone.shownBy, row)]);
  const onStatusOfAlone = await confirmOnOneStatus(trials, points);
  if (onStatusOfAlone.kind !== "passes") return onStatusOfAlone;

  // 3. On all of them.
  const neededFailures = points.length === 1 ? sureFailures : sureFailuresOfStatuses;
  return confirmChoice(trials, { row }, points, neededFailures);
}

/** Confirms the first of several points that breaks the run alone. A single point needs no choice of a status: nothing is tried. */
async function confirmOnOneStatus(
  trials: VariedTrials,
  points: readonly VariedPoint[],
): Promise<Confirmation> {
  if (points.length < 2) return { kind: "passes" };
  for (const point of points) {
    const choice = { row: point.row, status: point.status };
    const confirmation = await confirmChoice(trials, choice, [point], sureFailures);
    if (confirmation.kind !== "passes") return confirmation;
  }
  return { kind: "passes" };
}

/** Confirms that the run breaks while only this varies. */
async function confirmChoice(
  trials: VariedTrials,
  choice: RowChoice,
  points: readonly VariedPoint[],
  neededFailures: 2 | 3,
): Promise<Confirmation> {
  const trial = await trials.varyOnly([choice], neededFailures);
  if (trial.kind !== "breaks") return trial;
  return { kind: "confirmed", cause: { row: choice.row, points, shownBy: trial.shownBy } };
}

function uniquePoints(points: readonly VariedPoint[]): VariedPoint[] {
  const byId = new Map<string, VariedPoint>();
  for (const point of points) byId.set(pointId(point), point);
  return [...byId.values()];
}
