import { scopePattern } from "../../domain/assumptions.js";
import { redactKeys } from "../../domain/redact.js";
import { maximumRefLength, refHint, refPattern } from "./ref.js";
import { count, mapping, optional, text, type Wording } from "./shape.js";
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

// The kinds of text of the format. Each use is a shape of its own, so that it can be described by itself.

export const shortText = (most = 200) => text({ least: 1, most });

export const ref = () =>
  text({
    noun: "a ref",
    example: "core-banking",
    code: "bad_ref",
    pattern: refPattern,
    most: maximumRefLength,
    // Not even in another spelling is a key shown (R46).
    hint: (given) => (redactKeys(given) === given ? refHint(given) : "write the short name of the key"),
  });

export const time = () =>
  text({
    noun: "a time",
    code: "bad_time",
    pattern: timePattern,
    isAllowed: (given) => parseTime(given) !== undefined,
    hint: timeHint,
  });

const durationWording: Wording = {
  noun: "a duration",
  example: "90s, 10m, 2h or 7d",
  code: "bad_time",
  hint: durationHint,
};
export const duration = (isAllowed = (_length: number) => true) =>
  text({
    ...durationWording,
    pattern: durationPattern,
    isAllowed(given) {
      const length = parseDuration(given);
      return length !== undefined && isAllowed(length);
    },
  });

/** A duration, or `none`. */
export const durationOrNone = () =>
  text({
    ...durationWording,
    noun: "a duration or none",
    example: "90d, 12h or none",
    pattern: new RegExp(`^none$|${durationPattern.source}`),
    isAllowed: (given) => given === "none" || (parseDuration(given) ?? -1) > 0,
  });

/** A duration of real time, up to a longest one. */
export const wait = (longest: number) =>
  text({
    ...durationWording,
    noun: "a duration of an hour at most",
    example: "250ms, 2s or 1m",
    pattern: waitPattern,
    isAllowed: (given) => (parseDuration(given) ?? Number.POSITIVE_INFINITY) <= longest,
    hint: (given) => durationHint(given)?.replace(/(\S+)s or \S+m,/, "$1ms or $1s,"),
  });

export const timeOrDuration = () =>
  text({
    noun: "a time or a duration",
    example: "90m, -1d or 2026-03-02T09:00:00Z",
    code: "bad_time",
    pattern: new RegExp(`${timePattern.source}|${durationPattern.source}`),
    isAllowed: (given) => parseWhen(given, 0) !== undefined,
    hint(given) {
      if (/^\d{4}-\d{2}-/.test(given)) return timeHint(given);
      return parseDuration(given) === undefined ? durationHint(given) : "a duration is 100 years at most";
    },
  });

export const scope = () =>
  text({ noun: "a scope name", example: "attestations:read", pattern: scopePattern });

export const sha256 = () =>
  text({ noun: "a SHA-256", example: "64 hex digits in lower case", pattern: /^[0-9a-f]{64}$/ });

export const limits = mapping({ per_minute: optional(count()), per_day: optional(count()) });
