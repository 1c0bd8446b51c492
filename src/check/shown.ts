const longest = 80;

// What a server sent must not move the cursor, recolour a terminal, break a line or turn the reading direction.
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** A text of the server as it may be shown: one line, nothing unprintable, cut when long. */
export function visible(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(unprintable, "\uFFFD");
}

/**
 * What was found in an answer, in words.
 *
 * @example
 * shown("60"); // 'the string "60"'
 * shown({}); // "an object"
 */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object") return "an object";
  return visible(`the ${typeof value} ${value}`);
}

/** A text in quotes, as it may be shown. */
export function quoted(text: string): string {
  return JSON.stringify(visible(text));
}
