/** What a scenario may have at most; docs/scenario-reference.md has the same table. */
export const scenarioLimits = {
  /** The text in UTF-8 has at most 1 MiB. */
  bytes: 1024 * 1024,
  /** The format itself needs seven levels. */
  levels: 32,
  /** Names, values, punctuation and line ends of its text; a thousand keys need about 40,000. */
  lexemes: 250_000,
  /** All members and items, also those that aliases repeat. */
  membersAndItems: 100_000,
  aliases: 1000,
  /** A key has had at most this many in the minute of the start. More than a sandbox can get: a sliding minute keeps the time of each. */
  requestsOfMinute: 10_000_000,
  /** A timeline has at most this many, and a story. */
  steps: 1000,
  /** One fault can affect this many by their numbers. */
  requestsOfFault: 1000,
  keys: 100_000,
  organizationsOfPopulation: 100_000,
  /** A population that is sent to a server has at most this many: they take half a second, while all other requests wait. */
  keysSent: 20_000,
} as const;

/** Names with a meaning for JavaScript objects: a scenario with them could change the sandbox's own objects. */
export const forbiddenNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
