import { makeFarmers, sumOf } from "../../farmers/make-farmers.js";
import { resolveLocale } from "../../farmers/tables.js";
import { farmerLocaleChoices, maxFarmers } from "../../rules/farmer-values.js";
import type { Farmer, Parcel } from "../../sandbox/farmer-records/farmer-shape.js";
import { buildOrganization } from "../../sandbox/scenario-records.js";
import { populatedOrganization } from "../../scenario/keys.js";
import { listed, quote } from "../../schema/words.js";
import { type CommandCall, declareCommand, refuseFlags } from "../command.js";
import { exitCode, signalExitCode, usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import { docsPlace } from "../io.js";
import type { Printer } from "../terminal.js";

/** The bundled scenarios' start time: without `--now`, farmers are the same every day. */
const defaultNow = Date.UTC(2026, 2, 2, 9);

const readLocale = flag.readerOf(
  (text) => {
    return resolveLocale(text) === undefined ? undefined : text;
  },
  listed(farmerLocaleChoices, "or"),
);

const recordFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
type RecordFormat = (typeof recordFormats)[number];

const fixturesFlags = {
  count: flag.option("--count <number>", "number of records (default: 10)", flag.wholeNumber(0, maxFarmers)),
  from: flag.option(
    "--from <index>",
    "index of the first record, counted from 0 (default: 0)",
    flag.wholeNumber(0, maxFarmers - 1),
  ),
  format: flag.option(
    "--format <format>",
    "ndjson, json, yaml, csv, or geojson for the fields of farmers (default: ndjson)",
    flag.oneOf(recordFormats),
  ),
  locale: flag.option(
    "--locale <name>",
    "locale of the farmers, such as en_GH, or a language (default: all locales)",
    readLocale,
  ),
  seed: flag.option("--seed <number>", "seed of the records (default: 1)", flag.readSeed),
  now: flag.option(
    "--now <time>",
    "time that the dates of farmers depend on, with a zone (default: 2026-03-02T09:00:00Z)",
    // A farmer's life starts decades earlier.
    (text, from) => {
      const time = flag.readClockStart(text, from);
      if (new Date(time).getUTCFullYear() >= 1900) return time;
      throw usageError(`Invalid ${from}: ${quote(text)}: the earliest time is in 1900.`);
    },
  ),
};
type FixturesCall = CommandCall<flag.FlagValues<typeof fixturesFlags>>;

export const fixturesCommand = declareCommand({
  summary: "print seeded synthetic records: organizations or farmers",
  description: `Prints synthetic records on stdout, in constant memory. The same seed, index, locale and time produce the same record. Organizations are a scenario's population. Farmers are described in ${docsPlace("farmers")}. In CSV, lists are counted or summed.`,
  args: { "<kind>": "organizations or farmers" },
  flags: fixturesFlags,
  examples: {
    "svc-sandbox fixtures farmers": "ten of them, one JSON object a line",
    "svc-sandbox fixtures farmers --count 1000 --locale en --format csv > en.csv": "a table",
    "svc-sandbox fixtures farmers --count 200 --format geojson > fields.geojson": "their fields, for a map",
    "svc-sandbox fixtures organizations --from 199 --count 1": "the two hundredth bank or insurer",
  },
  async run(call) {
    const { flags, io } = call;
    const { count = 10, from = 0, format = "ndjson" } = flags;
    if (from + count > maxFarmers) {
      throw usageError(
        `--from ${from} --count ${count} goes beyond the last index, ${maxFarmers - 1}. Use lower numbers.`,
      );
    }
    const stop = io.stopSignal();
    await writeRecords(fixtureRecords(call), { from, count, format }, io.stdout, stop);
    return stop.aborted ? signalExitCode(stop) : exitCode.fine;
  },
});

type FixtureValue = string | number | boolean | null;

/** The records of a kind, each made when it is asked for. */
interface Records {
  readonly recordAt: (index: number) => object;
  /** A record as a row of a table. */
  readonly rowAt: (index: number) => Readonly<Record<string, FixtureValue>>;
  /** Returns a record's GeoJSON Features; none without a location. */
  readonly featuresAt: (index: number) => readonly object[];
}

const readKind = flag.oneOf(["organizations", "farmers"]);

function fixtureRecords(call: FixturesCall): Records {
  const { args, flags } = call;
  const kind = readKind(args[0] ?? "", "kind of records");
  if (kind === "farmers") return farmerRecords(flags);
  refuseFlags(call, ["locale", "now"], "fixtures organizations");
  if (flags.format === "geojson") {
    throw usageError("--format geojson is only for farmers: organizations have no location.");
  }
  return organizationRecords(flags.seed ?? 1);
}

function farmerRecords(flags: FixturesCall["flags"]): Records {
  const { seed = 1, now = defaultNow, locale } = flags;
  const { at: farmerAt } = makeFarmers({ seed, start: now, locale });
  return {
    recordAt: farmerAt,
    rowAt: (index) => farmerRow(farmerAt(index)),
    featuresAt: (index) => farmerFeatures(farmerAt(index)),
  };
}

/** A scenario's population with refs, as in the API; index 0 is `organization-1`. */
function organizationRecords(seed: number): Records {
  const organizationAt = (index: number) => {
    const [ref, fields] = populatedOrganization(index + 1);
    const { id, name, type } = buildOrganization(ref, fields, seed);
    return { ref, id, name, type };
  };
  return { recordAt: organizationAt, rowAt: organizationAt, featuresAt: () => [] };
}

/** The number of characters to write together: large enough for speed, small enough for `| head`. */
const portionLength = 64 * 1024;

/** Writes records as fast as they are read. Ends early if the reader is gone or the signal is aborted. */
async function writeRecords(
  records: Records,
  { from, count, format }: { readonly from: number; readonly count: number; readonly format: RecordFormat },
  output: Printer,
  stop: AbortSignal,
): Promise<void> {
  const { head = "", textsOf, separator = "", tail = "" } = await createRecordTexts(records, format, count);
  let unwritten = head;
  let before = "";
  for (let index = from; index < from + count; index++) {
    for (const text of textsOf(index)) {
      unwritten += before + text;
      before = separator;
    }
    if (unwritten.length < portionLength) continue;

    // A reader that is slower than us must not fill the memory.
    output.write(unwritten);
    unwritten = "";
    const isRead = await output.waitForReader(stop);
    if (!isRead || stop.aborted) return;
  }
  output.write(unwritten + tail);
  await output.waitForReader(stop);
}

/** The texts that records become in a format. */
interface RecordTexts {
  readonly head?: string;
  /** The texts of the record at an index. */
  readonly textsOf: (index: number) => readonly string[];
  readonly separator?: string;
  readonly tail?: string;
}

async function createRecordTexts(
  records: Records,
  format: RecordFormat,
  count: number,
): Promise<RecordTexts> {
  const { recordAt, rowAt, featuresAt } = records;
  const memberText = (value: object) => `\n${JSON.stringify(value)}`;
  switch (format) {
    case "ndjson":
      return { textsOf: (index) => [`${JSON.stringify(recordAt(index))}\n`] };
    case "json":
      return {
        head: "[",
        textsOf: (index) => [memberText(recordAt(index))],
        separator: ",",
        tail: "\n]\n",
      };
    case "geojson":
      return {
        head: '{"type":"FeatureCollection","features":[',
        textsOf: (index) => featuresAt(index).map(memberText),
        separator: ",",
        tail: "\n]}\n",
      };
    case "yaml": {
      // Other formats do not load the YAML writer.
      const { yamlText } = await import("../../scenario/yaml/read-yaml.js");
      return { head: count === 0 ? "[]\n" : "", textsOf: (index) => [yamlText([recordAt(index)])] };
    }
    case "csv":
      return {
        head: csvLine(Object.keys(rowAt(0))),
        textsOf: (index) => [csvLine(Object.values(rowAt(index)))],
      };
  }
}

/** A row as in RFC 4180, except for the Unix line end. */
function csvLine(values: readonly FixtureValue[]): string {
  const cells: string[] = [];
  for (const value of values) {
    const text = String(value ?? "");
    const needsQuotes = /[",\r\n]/.test(text);
    cells.push(needsQuotes ? `"${text.replaceAll('"', '""')}"` : text);
  }
  return `${cells.join(",")}\n`;
}

// A farmer as a row of a table, for CSV, and as features of a map, for GeoJSON.

/** The columns of a table of farmers; `main` is a farmer's largest field. */
const columns = {
  farmer_id: ({ farmer_id }) => farmer_id,
  synthetic: () => true,
  given_name: ({ name }) => name.given_name,
  surname: ({ name }) => name.surname,
  sex: ({ sex }) => sex,
  birth_year: ({ birth_year }) => birth_year,
  language: ({ language }) => language,
  farmer_type: ({ farmer_type }) => farmer_type,
  farm_area_ha: ({ farm_area_ha }) => farm_area_ha,
  country_code: ({ location }) => location.country_code,
  subdivision_code: ({ location }) => location.subdivision_code,
  subdivision_name: ({ location }) => location.subdivision_name,
  // Of the first corner of the largest field.
  longitude: (_, main) => main.geometry.coordinates[0]?.[0]?.[0] ?? 0,
  latitude: (_, main) => main.geometry.coordinates[0]?.[0]?.[1] ?? 0,
  parcels: ({ parcels }) => parcels.length,
  irrigated_area_ha: ({ parcels }) =>
    sumOf(parcels, ({ properties }) => (properties.irrigation === "none" ? 0 : properties.area_ha)),
  main_crop_code: (_, main) => main.properties["crop:code"],
  main_crop_name: (_, main) => main.properties["crop:name"],
  livestock_count: ({ livestock }) => sumOf(livestock, ({ count }) => count),
} satisfies Readonly<Record<string, (farmer: Farmer, main: Parcel) => FixtureValue>>;

export function farmerRow(farmer: Farmer): Readonly<Record<string, FixtureValue>> {
  const row: Record<string, FixtureValue> = {};
  // Each farmer has a field, and the generator lists the largest one first.
  const main = farmer.parcels[0] as Parcel;
  for (const [name, read] of Object.entries(columns)) row[name] = read(farmer, main);
  return row;
}

/** The fields of a farmer, each with the members that name the farmer and the place. */
export function farmerFeatures({ farmer_id, location, parcels }: Farmer): readonly object[] {
  return parcels.map((parcel) => ({
    ...parcel,
    properties: {
      farmer_id,
      "admin:country_code": location.country_code,
      "admin:subdivision_code": location.subdivision_code,
      ...parcel.properties,
    },
  }));
}
