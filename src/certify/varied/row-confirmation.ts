import type { VariedPoint } from "../../sandbox/variants.js";
import { failuresOfHalf, failuresOnAllStatuses, failuresOnOneStatus } from "../checks/chance.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { pointId } from "../client-runs/varied-points.js";
import { pointsOfRow, type RowCause } from "./row-causes.js";
import type { VariedTrials } from "./varied-trials.js";

/** Whether a row breaks a run alone. `unconfirmed`: some trial passed in which it varied on all its statuses. */
type Confirmation =
  | { readonly kind: "confirmed"; readonly cause: RowCause }
  | { readonly kind: "unconfirmed" };

/**
 * Confirms that a row breaks the run alone, in three steps:
 * 1. It varies on all its statuses, in one trial, which shows its points. If the trial passes, the row is not confirmed.
 * 2. It varies on each status alone, in two trials. The first status on which both fail is the cause, which says more than all of them.
 * 3. It varies on all its statuses again, until enough trials have failed. The trial of the first step is one of them.
 */
export async function confirmRow(trials: VariedTrials, row: string): Promise<Confirmation> {
  const alone = await trials.varyOnly([{ row }], failuresOfHalf);
  if (alone.kind === "passes") return { kind: "unconfirmed" };

  // A run stops at its first failure, so either of these may have points that the other one lacks.
  const points = uniquePoints([...pointsOfRow(trials.run, row), ...pointsOfRow(alone.shownBy, row)]);
  if (points.length > 1) {
    // A row has one variant in a run, so it has a point for each status.
    for (const point of points) {
      const onStatus = await trials.varyOnly([{ row, status: point.status }], failuresOnOneStatus);
      if (onStatus.kind === "breaks") return confirmed(row, [point], onStatus.shownBy);
    }
  }

  const neededFailures = points.length === 1 ? failuresOnOneStatus : failuresOnAllStatuses;
  const onAll = await trials.varyOnly([{ row }], neededFailures);
  if (onAll.kind === "passes") return { kind: "unconfirmed" };
  return confirmed(row, points, onAll.shownBy);
}

function confirmed(row: string, points: readonly VariedPoint[], shownBy: ClientRun): Confirmation {
  return { kind: "confirmed", cause: { row, points, shownBy } };
}

function uniquePoints(points: readonly VariedPoint[]): VariedPoint[] {
  const byId = new Map<string, VariedPoint>();
  for (const point of points) byId.set(pointId(point), point);
  return [...byId.values()];
}
