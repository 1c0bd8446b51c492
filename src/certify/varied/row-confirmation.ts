import type { VariedPoint } from "../../sandbox/run-trace.js";
import type { RowChoice } from "../../sandbox/variants.js";
import { failuresOfOneStatus, failuresOfStatuses, failuresOfStep } from "../checks/chance.js";
import type { NothingShown } from "../client-runs/runs.js";
import { pointId } from "../client-runs/varied-points.js";
import { pointsOfRow, type RowCause } from "./row-causes.js";
import type { VariedTrials } from "./varied-trials.js";

/** Whether a row breaks a run alone. `unconfirmed`: some trial passed in which it varied on all its statuses. */
type Confirmation =
  | { readonly kind: "confirmed"; readonly cause: RowCause }
  | { readonly kind: "unconfirmed" }
  | NothingShown;

/** Confirms that a row breaks the run alone: on the responses of one status, which shows more, or else on all that it varies. */
export async function confirmRow(trials: VariedTrials, row: string): Promise<Confirmation> {
  // 1. On each status that the row varied in the run, if there are several.
  const pointsOfRun = pointsOfRow(trials.run, row);
  if (pointsOfRun.length > 1) {
    const onStatusOfRun = await confirmOnOneStatus(trials, pointsOfRun);
    if (onStatusOfRun.kind !== "unconfirmed") return onStatusOfRun;
  }

  // 2. On each status that it varies alone. A run stops at its first failure, so these may be more.
  const alone = await trials.varyOnly([{ row }], failuresOfStep);
  if (alone.kind === "nothing_shown") return alone;
  if (alone.kind === "passes") return { kind: "unconfirmed" };
  const points = uniquePoints([...pointsOfRun, ...pointsOfRow(alone.shownBy, row)]);
  if (points.length > 1) {
    const onStatusOfAlone = await confirmOnOneStatus(trials, points);
    if (onStatusOfAlone.kind !== "unconfirmed") return onStatusOfAlone;
  }

  // 3. On all of them.
  const neededFailures = points.length === 1 ? failuresOfOneStatus : failuresOfStatuses;
  return confirmChoice(trials, { row }, points, neededFailures);
}

/** Confirms the first of several points that breaks the run alone. */
async function confirmOnOneStatus(
  trials: VariedTrials,
  points: readonly VariedPoint[],
): Promise<Confirmation> {
  for (const point of points) {
    const choice = { row: point.row, status: point.status };
    const confirmation = await confirmChoice(trials, choice, [point], failuresOfOneStatus);
    if (confirmation.kind !== "unconfirmed") return confirmation;
  }
  return { kind: "unconfirmed" };
}

/** Confirms that the run breaks while only this varies. */
async function confirmChoice(
  trials: VariedTrials,
  choice: RowChoice,
  points: readonly VariedPoint[],
  neededFailures: 2 | 3,
): Promise<Confirmation> {
  const trial = await trials.varyOnly([choice], neededFailures);
  if (trial.kind === "nothing_shown") return trial;
  if (trial.kind === "passes") return { kind: "unconfirmed" };
  return { kind: "confirmed", cause: { row: choice.row, points, shownBy: trial.shownBy } };
}

function uniquePoints(points: readonly VariedPoint[]): VariedPoint[] {
  const byId = new Map<string, VariedPoint>();
  for (const point of points) byId.set(pointId(point), point);
  return [...byId.values()];
}
