import type { VariedPoint } from "../../sandbox/run-trace.js";
import { failuresOfHalf, failuresOnAllStatuses, failuresOnOneStatus } from "../checks/chance.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { pointId } from "../client-runs/varied-points.js";
import { pointsOfRow, type RowCause } from "./row-causes.js";
import type { VariedTrials } from "./varied-trials.js";

/** Whether a row breaks a run alone. `unconfirmed`: some trial passed in which it varied on all its statuses. */
type Confirmation =
  | { readonly kind: "confirmed"; readonly cause: RowCause }
  | { readonly kind: "unconfirmed" };

/** Confirms that a row breaks the run alone: on the responses of one status, which shows more, or else on all that it varies. */
export async function confirmRow(trials: VariedTrials, row: string): Promise<Confirmation> {
  const alone = await trials.varyOnly([{ row }], failuresOfHalf);
  if (alone.kind === "passes") return { kind: "unconfirmed" };

  // A run stops at its first failure, so either of these may have points that the other one lacks.
  const points = uniquePoints([...pointsOfRow(trials.run, row), ...pointsOfRow(alone.shownBy, row)]);
  if (points.length > 1) {
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
