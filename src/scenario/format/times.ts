import { hour, type Overlap, parseDuration, parseTime, timePattern } from "../../rules/time.js";
import { meantTimes, timeHint } from "../../rules/time-hint.js";
import * as s from "../../schema/shape.js";
import { parseWhen } from "./when.js";

// Times and durations.

/** `90s`, `10m`, `2h`, `7d`, with a minus for the past. */
export const durationPattern = /^-?\d+[smhd]$/;

/** A duration without a minus, also in milliseconds: `250ms`. */
export const waitPattern = /^\d+(?:ms|[smhd])$/;

const durationExamples = "90s, 10m, 2h or 7d";
const isDuration = (text: string) => parseDuration(text) !== undefined;
const isPositive = (text: string) => (parseDuration(text) ?? 0) > 0;
const isTimeOrDuration = (text: string) => parseWhen(text) !== undefined;

export const time = () =>
  s.text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    accepts: (text) => parseTime(text) !== undefined,
    meant: meantTimes,
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
  /** The units that a number without a unit probably means. */
  readonly units?: string[];
}

function durationText(kind: DurationKind) {
  const { noun, example, pattern, accepts, units } = kind;
  const fits = (text: string) => pattern.test(text) && accepts(text);
  return s.text({ noun, example, code: "bad_time", pattern, accepts, meant: withUnit(fits, units) });
}

/** A number without a unit may mean each of these that is allowed. */
function withUnit(accepts: (text: string) => boolean, units: readonly string[] = ["s", "m"]) {
  return (text: string) => {
    const durations = /^-?\d+$/.test(text) ? units.map((unit) => text + unit) : [];
    return durations.filter(accepts);
  };
}

/** How long a replaced key still works, in whole seconds: a number without a unit would be read in several ways. */
export function overlap(): s.Shape<Overlap> {
  const inTime = durationText({
    noun: "a duration, or 0",
    example: durationExamples,
    pattern: durationPattern,
    accepts: isDuration,
  });
  return s.either(inTime, s.choice([0])) as s.Shape<Overlap>; // the type of the texts that fit the pattern, and of 0
}

/** How far the clock moves. Also in milliseconds: clients move it by the pause that their tests replace. */
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
export function timeOrDuration() {
  const meantDurations = withUnit((text) => durationPattern.test(text) && isTimeOrDuration(text));
  return s.text({
    noun: "a time or a duration",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    accepts: isTimeOrDuration,
    meant: (text) => (isLikeTime(text) ? meantTimes(text) : meantDurations(text)),
    hint: (text) => (isLikeTime(text) ? timeHint(text) : undefined),
  });
}

/** Whether a text looks more like a time than like a duration: `2026-03-02 09:00`, or `1772442000` seconds since 1970. */
function isLikeTime(text: string): boolean {
  return /^\d{4}-\d{2}-|^\d{9}/.test(text);
}
