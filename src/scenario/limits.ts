/** What a scenario may have at most; docs/scenario-reference.md has the same table. */
export const scenarioLimits = {
  /** Of its text, in UTF-8: 1 MiB. */
  bytes: 1024 * 1024,
  /** Of an OpenAPI document in a file: 20 MiB. */
  bytesOfDocument: 20 * 1024 * 1024,
  /** The format itself needs seven levels. */
  levels: 32,
  levelsOfDocument: 100,
  /** Names, values, punctuation and line ends of its text; a thousand keys need about 40,000. */
  pieces: 250_000,
  /** All members and items, also those that aliases repeat. */
  parts: 100_000,
  aliases: 1000,
  /** In a timeline, and in a story. */
  steps: 1000,
  /** That one fault affects by their numbers. */
  requestsOfFault: 1000,
  keys: 100_000,
  organizationsOfPopulation: 100_000,
  /** Of the population of a scenario that is sent to a server: they take half a second, while all other requests wait. */
  keysSent: 20_000,
} as const;

/** What a text may have at most. */
export type TextLimits = { readonly [Of in "bytes" | "pieces" | "parts"]: number };
