import { SandboxError } from "../../domain/errors.js";
import { redactKeys } from "../../domain/redact.js";
import { parseDuration, parseTime } from "../../scenario/format/time.js";
import { didYouMean, listed } from "../../schema/words.js";
import { isInstant } from "../clock.js";
import type { World } from "../world.js";

/** Role of the user in the dashboard (R33). */
export type Actor = "administrator" | "member";

export interface Initiator {
  /** Default: administrator. */
  readonly actor?: Actor | undefined;
  /** Whether the scenario itself runs it: new keys then get the secrets that the seed and their refs give. */
  readonly isScripted?: boolean;
  /** Whether the timeline runs it, which runs again when a capture is repeated. */
  readonly isOfTimeline?: boolean;
}

/** Throws `not_an_administrator` for a member (R33). */
export function requireAdministrator({ actor = "administrator" }: Initiator): void {
  if (actor === "administrator") return;
  throw new SandboxError(
    "not_an_administrator",
    "Only administrators of the organization create and manage keys; this was asked as a member.",
    { actor },
  );
}

/** Throws `not_found` in a world without the preview of the announced endpoints (R49). */
export function requirePreview({ preview, name }: World): void {
  if (preview) return;
  throw new SandboxError(
    "not_found",
    `Failed to find consent requests and attestations: the preview of the announced endpoints is off in ${JSON.stringify(name)}. Write preview: true into the scenario.`,
  );
}

/** Throws `validation_failed` with the invalid fields, by their names in JSON; `undefined` stands for a valid one. */
export function requireFields(doing: string, problems: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  if (wrong.length === 0) return;
  throw new SandboxError(
    "validation_failed",
    `Failed to ${doing}: ${wrong.map(([field, problem]) => `${field} ${problem}`).join("; ")}.`,
    { fields: Object.fromEntries(wrong) },
  );
}

/** Throws `validation_failed` for options that there are not. */
export function requireKnownOptions(doing: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== "object" || given === null) {
    requireFields(doing, { options: `are an object: { ${known[0]}: … }` });
  }
  const unknown = Object.keys(given as object).filter((name) => !known.includes(name));
  const problem = (name: string) =>
    `is no option.${didYouMean(name, known)} There are ${listed(known, "and")}`;
  requireFields(doing, Object.fromEntries(unknown.map((name) => [redactKeys(name), problem(name)])));
}

/** A length of time as callers write it: `90s`, `61m`, `2h`, `7d`, or whole milliseconds. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}` | number;

/** A point in time: ISO 8601 with a zone, epoch milliseconds, or a `Date`. */
export type Instant = string | number | Date;

/** Milliseconds of a duration; throws `validation_failed`. */
export function durationOf(duration: string | number): number {
  const length = typeof duration === "number" ? duration : parseDuration(duration);
  if (length !== undefined && Number.isSafeInteger(length)) return length;
  throw new SandboxError(
    "validation_failed",
    `Failed to read the duration ${JSON.stringify(duration)}: write it as 90s, 10m, 2h or 7d, or as whole milliseconds.`,
    { given: duration },
  );
}

/** Epoch milliseconds of an instant; throws `validation_failed`. */
export function instantOf(instant: Instant): number {
  // A text without a zone would mean another instant on every machine.
  const isEpoch = typeof instant === "number" || instant instanceof Date;
  const time = isEpoch ? Number(instant) : parseTime(instant);
  if (isInstant(time)) return time;
  throw new SandboxError(
    "validation_failed",
    `Failed to read the time ${JSON.stringify(instant)}: write it with its zone, as 2026-03-02T09:00:00Z.`,
    { given: instant },
  );
}

/** Epoch milliseconds of an instant, or of a duration (as text) counted from `now`; throws `validation_failed`. */
export function instantFrom(now: number, input: Instant): number {
  const duration = typeof input === "string" ? parseDuration(input) : undefined;
  return duration === undefined ? instantOf(input) : now + duration;
}
