import { farmerAt, farmerFeatures, farmerRow } from "../../farmers/farmers.js";
import { resolveLocale } from "../../farmers/tables.js";
import { buildOrganization } from "../../sandbox/scenario-keys.js";
import { parseTime } from "../../scenario/format/time.js";
import { populatedOrganization, populatedRef } from "../../scenario/population.js";
import type { Organization } from "../../spec/api-key.js";
import { farmerLocaleChoices, mostFarmers } from "../../spec/consent.js";
import { listed } from "../../spec/schema/words.js";
import {
  type Call,
  declareCommand,
  type FlagValues,
  flag,
  noVariable,
  oneOf,
  reader,
  toggle,
  wholeNumber,
} from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { readSeed } from "../flags.js";
import { type RecordKind, recordFormats, writeRecords } from "../write-records.js";

/** The bundled scenarios' start time: without `--now`, farmers are the same every day. */
const defaultNow = Date.UTC(2026, 2, 2, 9);

// Standards write `en-GH`; letter case does not matter.
const readLocale = reader(
  (text) => {
    const wanted = text.replace("-", "_").toLowerCase();
    return farmerLocaleChoices.find((one) => one.toLowerCase() === wanted);
  },
  listed(farmerLocaleChoices, "or"),
);

// A farmer's life starts decades earlier, and the last loans end years later.
const readFarmerTime = reader((text) => {
  const time = parseTime(text);
  const year = new Date(time ?? Number.NaN).getUTCFullYear();
  return year >= 1900 && year <= 9990 ? time : undefined;
}, "a time from 1900 to 9990 with its zone, such as 2026-03-02T09:00:00Z");

const flags = {
  count: flag("--count <number>", "number of records (default: 10)", wholeNumber(0, mostFarmers), noVariable),
  from: flag(
    "--from <index>",
    "index of the first record, counted from 0 (default: 0)",
    wholeNumber(0, mostFarmers - 1),
    noVariable,
  ),
  format: flag(
    "--format <format>",
    "ndjson, json, yaml, csv, or geojson for the fields of farmers (default: ndjson)",
    oneOf(recordFormats),
    noVariable,
  ),
  bom: toggle("--bom", "starts CSV with a byte order mark; Excel needs it to read accents", noVariable),
  locale: flag(
    "--locale <name>",
    "locale of the farmers, such as en_GH or pt_BR, or a language for all of its locales (default: all locales)",
    readLocale,
    noVariable,
  ),
  seed: flag("--seed <number>", "seed of the records (default: 1)", readSeed),
  now: flag(
    "--now <time>",
    "time that the dates of farmers depend on, with a zone (default: 2026-03-02T09:00:00Z, the start of the bundled scenarios)",
    readFarmerTime,
  ),
};
type FixturesCall = Call<FlagValues<typeof flags>>;

export const command = declareCommand({
  summary: "print seeded synthetic records: organizations or farmers",
  description:
    "Prints synthetic records on stdout, in constant memory. The same seed, index, locale and time produce the same record. Organizations are a scenario's population; docs/farmers.md describes farmers. In CSV, lists are counted or summed.",
  words: { "<kind>": "organizations or farmers" },
  choices: ["organizations", "farmers"],
  flags,
  examples: {
    "svc-sandbox fixtures farmers": "ten of them, one JSON object a line",
    "svc-sandbox fixtures farmers --count 1000 --locale en --format csv > en.csv": "a table",
    "svc-sandbox fixtures farmers --count 200 --format geojson > fields.geojson": "their fields, for a map",
    "svc-sandbox fixtures organizations --from 199 --count 1": "the two hundredth bank or insurer",
  },
  async run(call) {
    const { flags, io } = call;
    const { count = 10, from = 0, format = "ndjson", bom = false } = flags;
    if (from + count > mostFarmers) {
      throw usageError(
        `--from ${from} --count ${count} goes beyond the last index, ${mostFarmers - 1}. Use lower numbers.`,
      );
    }
    if (bom && format !== "csv") {
      throw usageError("--bom requires --format csv.");
    }
    await writeRecords(kindOf(call), { from, count, format, bom }, io.stdout, io.stopSignal());
    return exitCode.fine;
  },
});

function kindOf({ words: [word = ""], flags }: FixturesCall): RecordKind<object> {
  const { seed = 1, now: start = defaultNow, locale, format } = flags;
  if (oneOf(["organizations", "farmers"])(word, "kind of records") === "farmers") {
    const locales = locale === undefined ? undefined : resolveLocale(locale);
    const source = { seed, start, ...(locales !== undefined && { locales }) };
    const kind = { at: (index: number) => farmerAt(source, index), row: farmerRow, features: farmerFeatures };
    return kind as RecordKind<object>;
  }
  if (locale === undefined && format !== "geojson") return organizationRecords(seed) as RecordKind<object>;
  throw usageError("--locale and --format geojson are only for farmers: organizations have no location.");
}

// Lists a scenario's population with refs, as in the API; index 0 is `organization-1`.
function organizationRecords(seed: number): RecordKind<Pick<Organization, "ref" | "id" | "name" | "type">> {
  return {
    at(index) {
      const number = index + 1;
      const given = populatedOrganization(number);
      const { ref, id, name, type } = buildOrganization(populatedRef(number), given, seed);
      return { ref, id, name, type };
    },
    row: (organization) => ({ ...organization }),
    features: () => [],
  };
}
