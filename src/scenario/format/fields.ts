import { z } from "zod/mini";
import { scopePattern } from "../../domain/assumptions.js";
import { redactKeys } from "../../domain/redact.js";
import type { ScenarioProblemCode } from "../problems/scenario-error.js";
import { maximumRefLength, refHint, refPattern } from "./ref.js";
import {
  durationHint,
  durationPattern,
  parseDuration,
  parseTime,
  parseWhen,
  timeHint,
  timePattern,
  waitPattern,
} from "./time.js";

// The kinds of field that the scenario format and the control plane's bodies are made of. Each use is a schema of its
// own, so that it can be described by itself.

/** The words for a field whose value is wrong. */
export interface Wording {
  /** As in `expires is a time or a duration, not "soon"`. */
  readonly noun?: string;
  readonly example?: string;
  /** Default: `bad_format`, or what the kind of mistake gives. */
  readonly code?: ScenarioProblemCode;
  /** The way to mend a text; `undefined` leaves it with the example. */
  readonly hint?: (text: string) => string | undefined;
}

/** The wording of each schema that has one. */
export const wordings = z.registry<Wording>();

/** A text of a certain form. */
export function pattern(wording: Wording, expression: RegExp) {
  return z.string().check(z.regex(expression)).register(wordings, wording);
}

export const text = (longest = 200) => z.string().check(z.minLength(1), z.maxLength(longest));
export const flag = () => z.boolean();
export const count = () => z.int().check(z.minimum(0));
export const countUpTo = (most: number) => count().check(z.maximum(most));
export const choice = <const Values extends readonly string[]>(values: Values) => z.enum(values);

const refWording: Wording = {
  noun: "a ref",
  example: "core-banking",
  code: "bad_ref",
  // Not even in another spelling is a key shown (R46).
  hint: (given) => (redactKeys(given) === given ? refHint(given) : "write the short name of the key"),
};
export const ref = () => pattern(refWording, refPattern).check(z.maxLength(maximumRefLength));

const timeWording: Wording = { noun: "a time", code: "bad_time", hint: timeHint };
export const time = () =>
  pattern(timeWording, timePattern).check(z.refine((value) => parseTime(value) !== undefined));

const durationWording: Wording = {
  noun: "a duration",
  example: "90s, 10m, 2h or 7d",
  code: "bad_time",
  hint: durationHint,
};
export const duration = (isAllowed = (_length: number) => true) =>
  pattern(durationWording, durationPattern).check(
    z.refine((value) => {
      const length = parseDuration(value);
      return length !== undefined && isAllowed(length);
    }),
  );

/** A duration of real time, up to a longest one. */
export const wait = (longest: number) =>
  pattern(
    {
      ...durationWording,
      noun: "a duration of an hour at most",
      example: "250ms, 2s or 1m",
      hint: (given) => durationHint(given)?.replace(/(\S+)s or \S+m,/, "$1ms or $1s,"),
    },
    waitPattern,
  ).check(z.refine((value) => (parseDuration(value) ?? Number.POSITIVE_INFINITY) <= longest));

const timeOrDurationWording: Wording = {
  noun: "a time or a duration",
  example: "90m, -1d or 2026-03-02T09:00:00Z",
  code: "bad_time",
  hint(given) {
    if (/^\d{4}-\d{2}-/.test(given)) return timeHint(given);
    return parseDuration(given) === undefined ? durationHint(given) : "a duration is 100 years at most";
  },
};
export const timeOrDuration = () =>
  pattern(timeOrDurationWording, new RegExp(`${timePattern.source}|${durationPattern.source}`)).check(
    z.refine((value) => parseWhen(value, 0) !== undefined),
  );

const scopeWording: Wording = { noun: "a scope name", example: "attestations:read" };
export const scope = () => pattern(scopeWording, scopePattern);

const sha256Wording: Wording = { noun: "a SHA-256", example: "64 hex digits in lower case" };
export const sha256 = () => pattern(sha256Wording, /^[0-9a-f]{64}$/);

export const limits = z.strictObject({
  per_minute: z.optional(count()),
  per_day: z.optional(count()),
});
