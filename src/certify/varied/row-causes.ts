import { lengtheningRows } from "../../api/variation/table.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import type { ClientRun } from "../client-runs/client-run.js";
import { pointId } from "../client-runs/varied-points.js";

/** A row of the variation table, such as `etag`, that breaks a run alone, and without which the run passes. */
export interface RowCause {
  readonly row: string;
  /** What varied when it failed alone: each point is a variant of the row on the responses of one status. */
  readonly points: readonly VariedPoint[];
  /** The run in which only this row varied. */
  readonly shownBy: ClientRun;
}

/** The row of long bodies. It explains each row that lengthens a body: only the length may break the client. */
export const bodyLengthRow = "body_length";
/** The rows of the table that may lengthen a body, and two rows of values: the name of an organization and the scopes of a key may be longer, too. */
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

/** The points of a run that are of this row. */
export function pointsOfRow({ points }: ClientRun, row: string): VariedPoint[] {
  return points.filter((point) => point.row === row);
}

/** The causes of which the run has a point. If it has none, those of which it has the row, with another variant or on another status. */
export function causesShownBy(causes: readonly RowCause[], run: ClientRun): RowCause[] {
  const withPoint = causes.filter((cause) => hasPointOf(run, cause));
  if (withPoint.length > 0) return withPoint;

  const rows = variedRows(run);
  return causes.filter((cause) => rows.some((row) => isCoveredBy(cause, row)));
}

function hasPointOf(run: ClientRun, cause: RowCause): boolean {
  const idsOfCause = cause.points.map(pointId);
  return run.points.some((point) => idsOfCause.includes(pointId(point)));
}
