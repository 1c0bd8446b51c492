import { readCount, readFixtureFormat, readIndex, readLocale, readNow, readSeed } from "./flag-values.js";
import { type FixtureFormat, fixtureFormats } from "./formats.js";

/** The flags of `fixtures`, as the command sees them. */
export interface FixtureFlags {
  readonly count?: number;
  readonly from?: number;
  readonly fixtureFormat?: FixtureFormat;
  readonly locale?: string;
  readonly fixtureSeed?: number;
  /** Epoch milliseconds. */
  readonly datesFrom?: number;
}

/** The rows of these flags. */
export const fixtureFlags = {
  count: {
    spec: "--count <number>",
    text: "how many records (default: 10)",
    read: readCount,
    variables: [],
  },
  from: {
    spec: "--from <index>",
    text: "the index of the first one, counted from 0 (default: 0)",
    read: readIndex,
    variables: [],
  },
  fixtureFormat: {
    spec: "--format <format>",
    text: `${fixtureFormats.slice(0, -1).join(", ")} or geojson, which is the fields of farmers (default: ndjson)`,
    read: readFixtureFormat,
    variables: [],
  },
  locale: {
    spec: "--locale <name>",
    text: "where the farmers live: a locale such as en_GH or pt_BR, or a language, which means all locales of it (default: everywhere)",
    read: readLocale,
    variables: [],
  },
  fixtureSeed: {
    spec: "--seed <number>",
    text: "what the records are derived from (default: 1)",
    read: readSeed,
    variables: ["SVC_SANDBOX_SEED"],
  },
  datesFrom: {
    spec: "--now <time>",
    text: "the time on which the dates of farmers hang, with a zone (default: 2026-03-02T09:00:00Z, when the clocks of the bundled scenarios start)",
    read: readNow,
    variables: ["SVC_SANDBOX_NOW"],
  },
} as const;
