import type { Assumptions } from "../domain/assumptions.js";
import { mePath } from "../domain/outcomes.js";
import { parseDate } from "../scenario/format/changes.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** Announced changes by their refs, as a scenario has them. */
export type ChangeFields = NonNullable<Scenario["changes"]>;

type Move = NonNullable<ChangeFields[string]["move"]>;

/** An announced change of the API. */
export interface Change {
  readonly ref: string;
  /** When it applies (epoch milliseconds). */
  readonly at: number;
  /** When the path that it moves ends; `Infinity` if it moves none. */
  readonly ends: number;
  readonly fields: ChangeFields[string] & { readonly move?: Required<Move> };
}

/** The changes by their dates. */
export function datedChanges(changes: ChangeFields): Change[] {
  const all = Object.entries(changes).map(([ref, { move, ...fields }]): Change => {
    const at = parseDate(fields.at) ?? 0;
    if (move === undefined) return { ref, at, ends: Number.POSITIVE_INFINITY, fields };
    return {
      ref,
      at,
      ends: parseDate(move.sunset) ?? at,
      fields: { ...fields, move: { from: mePath, ...move } },
    };
  });
  return all.sort((one, other) => one.at - other.at);
}

/** The assumptions that the changes have set by an instant. */
export function assumedAt(changes: readonly Change[], now: number): Partial<Assumptions> {
  return Object.assign({}, ...changes.map(({ at, fields }) => (at <= now ? fields.assumptions : undefined)));
}

/** The instant after `now` at which a change sets assumptions; `Infinity` without one. */
export function nextAssumed(changes: readonly Change[] | undefined, now: number): number {
  const next = changes?.find(({ at, fields }) => at > now && fields.assumptions !== undefined);
  return next?.at ?? Number.POSITIVE_INFINITY;
}

/** The changes without the assumptions that they have set by an instant. */
export function withoutAssumed(changes: ChangeFields, now: number): ChangeFields {
  const left = Object.entries(changes).flatMap(([ref, change]): [string, ChangeFields[string]][] => {
    const { assumptions, ...others } = change;
    if (assumptions === undefined || (parseDate(change.at) ?? 0) > now) return [[ref, change]];
    return Object.keys(others).some((name) => name !== "at" && name !== "say") ? [[ref, others]] : [];
  });
  return Object.fromEntries(left);
}
