import { parseDate, timeFrom } from "../scenario/format/fields.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { day } from "../spec/api-key.js";
import type { Assumptions } from "../spec/assumptions.js";
import type { RejectionCode } from "../spec/errors.js";
import { mePath } from "../spec/outcomes.js";
import { isoOf } from "./clock.js";
import type { TimelineStep } from "./steps.js";

export type ChangeFields = NonNullable<Scenario["changes"]>;

export interface AnnouncedChange {
  readonly ref: string;
  /** When it applies (epoch milliseconds). */
  readonly at: number;
  /** When the old path ends; `Infinity` if the change moves no path. */
  readonly ends: number;
  readonly fields: ChangeFields[string] & {
    readonly move?: Required<NonNullable<ChangeFields[string]["move"]>>;
  };
}

export function datedChanges(
  changes: ChangeFields,
  endpoints: readonly { readonly operationId: string; readonly path: string }[] = [],
): AnnouncedChange[] {
  const all = Object.entries(changes).map(([ref, { move, ...fields }]): AnnouncedChange => {
    const at = parseDate(fields.at) ?? 0;
    if (move === undefined) return { ref, at, ends: Number.POSITIVE_INFINITY, fields };
    return {
      ref,
      at,
      ends: parseDate(move.sunset) ?? at,
      fields: { ...fields, move: { from: pathOf(fields.operation), ...move } },
    };
  });
  return all.sort((one, other) => one.at - other.at);
  function pathOf(operation: string | undefined): string {
    return endpoints.find(({ operationId }) => operationId === operation)?.path ?? mePath;
  }
}

export function assumedAt(changes: readonly AnnouncedChange[], now: number): Partial<Assumptions> {
  return Object.assign({}, ...changes.map(({ at, fields }) => (at <= now ? fields.assumptions : undefined)));
}

/** Returns when a change next sets assumptions after `now`; `Infinity` if none does. */
export function nextAssumed(changes: readonly AnnouncedChange[] | undefined, now: number): number {
  const next = changes?.find(({ at, fields }) => at > now && fields.assumptions !== undefined);
  return next?.at ?? Number.POSITIVE_INFINITY;
}

export function withoutAssumed(changes: ChangeFields, now: number): ChangeFields {
  const left = Object.entries(changes).flatMap(([ref, change]): [string, ChangeFields[string]][] => {
    const { assumptions, ...others } = change;
    if (assumptions === undefined || (parseDate(change.at) ?? 0) > now) return [[ref, change]];
    return Object.keys(others).some((name) => !["at", "say", "operation"].includes(name))
      ? [[ref, others]]
      : [];
  });
  return Object.fromEntries(left);
}

/** Formats an instant as `2027-06-01`, with the time unless it is midnight UTC. */
export function dateText(instant: number): string {
  const text = new Date(instant).toISOString();
  return instant % day === 0 ? text.slice(0, 10) : text.replace(".000Z", "Z");
}

/** The smallest part of a change: one edit, such as `members`, `rename`, `today`, and its value. */
export interface Part {
  readonly path: readonly string[];
  readonly value: unknown;
}

const atomic: readonly string[] = ["at", "say", "operation", "in", "on"];

export function partsOf({ fields: { move, ...fields } }: AnnouncedChange): Part[] {
  const inside = (value: unknown, path: readonly string[]): Part[] => {
    if (Array.isArray(value)) return value.map((name) => ({ path: [...path, name], value: undefined }));
    const isEdit = path.length === 2 && ["members", "headers", "scopes"].includes(path[0] as string);
    const isGroup = path.length < 2 || isEdit;
    if (!isGroup || typeof value !== "object" || value === null) return [{ path, value }];
    const members = Object.entries(value).filter(([name]) => path.length === 2 || !atomic.includes(name));
    return members.flatMap(([name, member]) => inside(member, [...path, name]));
  };
  return [...(move === undefined ? [] : [{ path: ["move"], value: move }]), ...inside(fields, [])];
}

export interface Timeline {
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  next: number;
  readonly rejections: Map<number, RejectionCode>;
  /** When the next step, assumption of an announced change or rule of a record is due; `Infinity` if none is left. */
  dueAt: number;
}

export function createTimeline(
  steps: readonly TimelineStep[],
  start: number,
  changes?: readonly AnnouncedChange[],
  rulesAt = Number.POSITIVE_INFINITY,
): Timeline {
  const timed = steps.map((step) => ({ step, at: timeFrom(start, step.at) }));
  const first = timed[0]?.at ?? Number.POSITIVE_INFINITY;
  const dueAt = Math.min(first, nextAssumed(changes, start), rulesAt);
  return { steps: timed, next: 0, rejections: new Map(), dueAt };
}

/** Returns the steps that have not run, with absolute times, so that a later start does not shift them. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoOf(at) }));
}
