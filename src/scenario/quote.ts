const longest = 60;

/**
 * A value as a message shows it: text in quotes, cut when long; lists and mappings by their kind only.
 *
 * @example
 * quote("actve"); // '"actve"'
 * quote([1, 2]); // "a list"
 */
export function quote(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
  }
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "a mapping" : String(value);
}

/**
 * Names in a sentence.
 *
 * @example
 * listed(["test", "live"], "or"); // "test or live"
 */
export function listed(names: readonly string[], word: "and" | "or"): string {
  if (names.length < 2) return names.join();
  return `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}
