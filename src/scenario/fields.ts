import { z } from "zod/mini";
import { scopePattern } from "../domain/assumptions.js";
import { durationPattern } from "./duration.js";
import { maximumRefLength, refPattern } from "./ref.js";
import { parseTime, parseWhen, timePattern } from "./when.js";

// The kinds of field that the scenario format and the control plane's bodies are made of.

export const text = (description: string) =>
  z.string().check(z.minLength(1), z.maxLength(200), z.describe(description));
/** What a text that must match a pattern stands for; problems are worded by it. */
export type TextKind =
  | "ref"
  | "time"
  | "duration"
  | "wait"
  | "duration_or_none"
  | "time_or_duration"
  | "scope"
  | "error_code"
  | "time_of_day"
  | "uuid"
  | "sha256"
  | "method"
  | "path"
  | "header_value";
const kinds = new Map<string, TextKind>();
/** What a text stands for that must match this pattern (the source of the expression). */
export const textKinds: ReadonlyMap<string, TextKind> = kinds;

export const pattern = (kind: TextKind, expression: RegExp, description: string) => {
  kinds.set(expression.source, kind);
  return z.string().check(z.regex(expression), z.describe(description));
};
export const ref = (description: string) =>
  pattern("ref", refPattern, description).check(z.maxLength(maximumRefLength));
export const time = (description: string) =>
  pattern("time", timePattern, `${description} An ISO 8601 time with a zone.`).check(
    z.refine((value) => parseTime(value) !== undefined),
  );
export const duration = (description: string) =>
  pattern("duration", durationPattern, `${description} A duration such as 90s, 10m, 2h, 7d.`);
export const wait = (description: string) =>
  pattern("wait", /^\d+(?:ms|s|m|h|d)$/, `${description} A duration such as 250ms or 2s.`);
export const flag = (description: string) => z.boolean().check(z.describe(description));
export const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));
export const countUpTo = (most: number, description: string) =>
  z.int().check(z.minimum(0), z.maximum(most), z.describe(description));
export const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  description: string,
) => z.enum(values).check(z.describe(description));
export const scope = (description: string) => pattern("scope", scopePattern, description);
export const timeOrDuration = (description: string) =>
  pattern(
    "time_or_duration",
    new RegExp(`${timePattern.source}|${durationPattern.source}`),
    `${description} A duration from the clock's start (10m, -1d), or an ISO 8601 time with a zone.`,
  ).check(z.refine((value) => parseWhen(value, 0) !== undefined));

export const limits = z
  .strictObject({
    per_minute: z.optional(count("Requests allowed per minute; 0 answers 429 always. Default: 60.")),
    per_day: z.optional(count("Requests allowed per day; 0 answers 429 always. Default: 1000.")),
  })
  .check(z.describe("The limits of the key."));
