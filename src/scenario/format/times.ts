import { day, type Overlap, parseDuration, parseTime, timeHint, timePattern } from "../../rules/time.js";
import * as s from "../../schema/shape.js";

// Times and durations.

/** `90s`, `10m`, `2h`, `7d`, with a minus for the past. */
export const durationPattern = /^-?\d{1,16}[smhd]$/;

/** A duration without a minus, also in milliseconds: `250ms`. */
export const waitPattern = /^\d{1,16}(?:ms|[smhd])$/;

const isDuration = (text: string) => parseDuration(text) !== undefined;

export const time = () =>
  s.text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    accepts: (text) => parseTime(text) !== undefined,
    hint: () => timeHint,
  });

/**
 * A text with a duration: `pattern` is how it is written, which JSON Schema has, too, and `accepts` which of these texts are allowed. A
 * number without a unit probably has one of `units`.
 */
export function writtenDuration({
  noun,
  example = "90s, 10m, 2h or 7d",
  pattern,
  accepts,
  units = ["s", "m"],
}: {
  readonly noun: string;
  readonly example?: string;
  readonly pattern: RegExp;
  readonly accepts: (text: string) => boolean;
  readonly units?: readonly string[];
}) {
  const isMeant = (duration: string) => pattern.test(duration) && accepts(duration);
  const hint = (text: string) => unitHint(text, units, isMeant);
  return s.text({ noun, example, code: "bad_time", pattern, accepts, hint });
}

/** `write 90s or 90m` for `90`: a number without a unit may mean it with each of the units that are allowed. */
function unitHint(text: string, units: readonly string[], isMeant: (duration: string) => boolean) {
  // Seconds since 1970 have more digits.
  if (!/^-?\d{1,6}$/.test(text)) return undefined;
  const meant = units.map((unit) => text + unit).filter(isMeant);
  return meant.length === 0 ? undefined : `write ${meant.join(" or ")}`;
}

/** How far the clock moves. Tests move it in place of a pause, which may be `250ms`. */
export const clockMove = () =>
  writtenDuration({
    noun: "a duration",
    pattern: new RegExp(`${durationPattern.source}|${waitPattern.source}`),
    accepts: isDuration,
  });

/** How long a replaced key still works: not at all, or a duration whose unit is a second or more. */
export function overlap(): s.Shape<Overlap> {
  const inTime = writtenDuration({
    noun: "a duration of whole seconds, or 0",
    pattern: durationPattern,
    accepts: isDuration,
  });
  return s.either(inTime, s.choice([0])) as s.Shape<Overlap>; // the type of the texts that fit the pattern, and of 0
}

const isTimeOrDuration = (text: string) => parseTimeFrom(0, text) !== undefined;

/** When something happens: at a time, or so long after the start. */
export const timeOrDuration = () =>
  s.text({
    noun: "a time or a duration of whole seconds up to 36500d",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    accepts: isTimeOrDuration,
    hint: (text) => unitHint(text, ["s", "m"], isTimeOrDuration),
  });

/** The longest duration in a scenario. */
const maximumDuration = 100 * 365 * day;

/** Epoch milliseconds of a time, or of a duration from `start`; `undefined` for a text that is neither, or a duration of more than a hundred years. */
function parseTimeFrom(start: number, text: string): number | undefined {
  const time = parseTime(text);
  if (time !== undefined) return time;
  const duration = parseDuration(text);
  if (duration === undefined || Math.abs(duration) > maximumDuration) return undefined;
  return start + duration;
}

/** Epoch milliseconds of a time, or of a duration from `start`, in a text that its shape has checked. */
export function timeFrom(start: number, text: string): number {
  const time = parseTimeFrom(start, text);
  if (time === undefined) throw new TypeError(`${text} is neither a time nor a duration`);
  return time;
}
