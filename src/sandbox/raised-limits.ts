import type { KeyLimits } from "../rules/key-state.js";
import type { RotationPosition } from "../scenario/keys/rotations.js";

/**
 * The limits of a scenario's key at the start, with what the profile `varied` adds to them. `rotation` is what the key has in common
 * with the keys that it replaced, and with those that replaced it. A limit is fixed, and gets nothing added, if the scenario sets it,
 * or if one of these keys has used it up at the start.
 *
 * | fixed            | the minute gets more | the day gets more |
 * |------------------|----------------------|-------------------|
 * | neither          | yes                  | yes               |
 * | only the minute  | no                   | yes               |
 * | the day, or both | no                   | no                |
 *
 * While the day is fixed, the minute gets nothing more either: with more requests a minute, the day would be used up sooner.
 */
export function raisedLimits(
  limits: KeyLimits,
  rotation: RotationPosition["rotation"],
  added: KeyLimits,
): KeyLimits {
  if (added.perMinute === 0 && added.perDay === 0) return limits;
  const { mostUsed, writtenSettings } = rotation;
  const written = writtenSettings.limits ?? {};

  const isDayFixed = written.per_day !== undefined || mostUsed.today >= limits.perDay;
  if (isDayFixed) return limits;
  const perDay = limits.perDay + added.perDay;

  const isMinuteFixed = written.per_minute !== undefined || mostUsed.thisMinute >= limits.perMinute;
  if (isMinuteFixed) return { perMinute: limits.perMinute, perDay };
  return { perMinute: limits.perMinute + added.perMinute, perDay };
}
