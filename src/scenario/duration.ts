import ms from "ms";

/** `90s`, `10m`, `2h`, `7d`, `250ms`; with a minus sign where the past is meant. */
export const durationPattern = /^[+-]?\d+(?:ms|s|m|h|d)$/;

/**
 * Milliseconds of a duration, or `undefined` when the text is not one.
 *
 * @example
 * parseDuration("61m"); // 3_660_000
 * parseDuration("-1d"); // -86_400_000
 */
export function parseDuration(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  const length = ms(text.replace(/^[+-]/, "") as ms.StringValue);
  if (!Number.isSafeInteger(length)) return undefined;
  // Not `-length` for nothing: that would be -0.
  return text.startsWith("-") && length > 0 ? -length : length;
}
