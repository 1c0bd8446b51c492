import { hour, type Overlap, parseDuration, parseTime, timeHint, timePattern } from "../../rules/time.js";
import * as s from "../../schema/shape.js";
import { parseTimeOrDuration } from "./when.js";

// Times and durations.

/** `90s`, `10m`, `2h`, `7d`, with a minus for the past. */
export const durationPattern = /^-?\d+[smhd]$/;

/** A duration without a minus, also in milliseconds: `250ms`. */
export const waitPattern = /^\d+(?:ms|[smhd])$/;

const durationExamples = "90s, 10m, 2h or 7d";
const isDuration = (text: string) => parseDuration(text) !== undefined;
const isPositive = (text: string) => (parseDuration(text) ?? 0) > 0;

export const time = () =>
  s.text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    accepts: (text) => parseTime(text) !== undefined,
    hint: timeHint,
  });

/** What differs between the kinds of durations. */
interface DurationKind {
  readonly noun: string;
  readonly example: string;
  /** How it is written; JSON Schema has it, too. */
  readonly pattern: RegExp;
  /** Whether a text that is written so is a duration of this kind. */
  readonly accepts: (text: string) => boolean;
  /** The units that a number without a unit probably has. Default: s and m. */
  readonly units?: readonly string[];
}

function durationText({ noun, example, pattern, accepts, units = ["s", "m"] }: DurationKind) {
  const isMeant = (duration: string) => pattern.test(duration) && accepts(duration);
  const hint = (text: string) => unitHint(text, units, isMeant);
  return s.text({ noun, example, code: "bad_time", pattern, accepts, hint });
}

/** `write 90s or 90m` for `90`: a number without a unit may mean it with each of the units that are allowed. */
function unitHint(text: string, units: readonly string[], isMeant: (duration: string) => boolean) {
  if (!/^-?\d+$/.test(text)) return undefined;
  const meant = units.map((unit) => text + unit).filter(isMeant);
  return meant.length === 0 ? undefined : `write ${meant.join(" or ")}`;
}

/** How long a replaced key still works: not at all, or a duration whose unit is a second or more. */
export function overlap(): s.Shape<Overlap> {
  const inTime = durationText({
    noun: "a duration, or 0",
    example: durationExamples,
    pattern: durationPattern,
    accepts: isDuration,
  });
  return s.either(inTime, s.choice([0])) as s.Shape<Overlap>; // the type of the texts that fit the pattern, and of 0
}

/** How far the clock moves. Tests move it in place of a pause, which may be `250ms`. */
export const clockMove = () =>
  durationText({
    noun: "a duration",
    example: durationExamples,
    pattern: new RegExp(`${durationPattern.source}|${waitPattern.source}`),
    accepts: isDuration,
  });

/** How long a step of a story waits. */
export const positiveDuration = () =>
  durationText({
    noun: "a duration",
    example: durationExamples,
    pattern: waitPattern,
    accepts: isPositive,
  });

/** How long something lasts, if it ends at all. */
export const durationOrNone = () =>
  durationText({
    noun: "a duration or none",
    example: "90d, 12h or none",
    pattern: new RegExp(`^none$|${durationPattern.source}`),
    accepts: (text) => text === "none" || isPositive(text),
  });

/** A duration of real time. For more than an hour, a fault can hang. */
export const wait = () =>
  durationText({
    noun: "a duration of at most an hour",
    example: "250ms, 2s or 1m",
    pattern: waitPattern,
    accepts: (text) => (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= hour,
    units: ["ms", "s"],
  });

/** When something happens: at a time, or so long after the start. */
export const timeOrDuration = () =>
  s.text({
    noun: "a time or a duration",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    accepts: (text) => parseTimeOrDuration(text) !== undefined,
    hint(text) {
      if (isLikeTime(text)) return timeHint(text);
      return unitHint(text, ["s", "m"], (duration) => parseTimeOrDuration(duration) !== undefined);
    },
  });

/** Whether a text looks more like a time than like a duration: `2026-03-02 09:00`, or `1772442000` seconds since 1970. */
function isLikeTime(text: string): boolean {
  return /^\d{4}-\d{2}-|^\d{9}/.test(text);
}
