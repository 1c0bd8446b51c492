import { farmerAt, farmerFeatures, farmerRow } from "../../farmers/farmers.js";
import { resolveLocale } from "../../farmers/tables.js";
import { buildOrganization } from "../../sandbox/keys.js";
import { parseTime } from "../../scenario/format/fields.js";
import { populatedOrganization, populatedRef } from "../../scenario/population.js";
import type { Organization } from "../../spec/api-key.js";
import { farmerLocaleChoices, mostFarmers } from "../../spec/farmer-locales.js";
import { listed } from "../../spec/schema/words.js";
import { type CallOf, declareCommand, oneOf, option, reader, wholeNumber } from "../command.js";
import { exitCode, usageError } from "../exit-codes.js";
import { readSeed } from "../flags.js";
import type { Output } from "../io.js";

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

// A farmer's life starts decades earlier.
const readFarmerTime = reader((text) => {
  const time = parseTime(text);
  const year = new Date(time ?? Number.NaN).getUTCFullYear();
  return year >= 1900 && year <= 9990 ? time : undefined;
}, "a time from 1900 to 9990 with its zone, such as 2026-03-02T09:00:00Z");

const recordFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
type RecordFormat = (typeof recordFormats)[number];

const flags = {
  count: option("--count <number>", "number of records (default: 10)", wholeNumber(0, mostFarmers), {
    variables: [],
  }),
  from: option(
    "--from <index>",
    "index of the first record, counted from 0 (default: 0)",
    wholeNumber(0, mostFarmers - 1),
    { variables: [] },
  ),
  format: option(
    "--format <format>",
    "ndjson, json, yaml, csv, or geojson for the fields of farmers (default: ndjson)",
    oneOf(recordFormats),
    { variables: [] },
  ),
  locale: option(
    "--locale <name>",
    "locale of the farmers, such as en_GH or pt_BR, or a language for all of its locales (default: all locales)",
    readLocale,
    { variables: [] },
  ),
  seed: option("--seed <number>", "seed of the records (default: 1)", readSeed),
  now: option(
    "--now <time>",
    "time that the dates of farmers depend on, with a zone (default: 2026-03-02T09:00:00Z, the start of the bundled scenarios)",
    readFarmerTime,
  ),
};
type FixturesCall = CallOf<typeof flags>;

export const fixturesCommand = declareCommand({
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
    const { count = 10, from = 0, format = "ndjson" } = flags;
    if (from + count > mostFarmers) {
      throw usageError(
        `--from ${from} --count ${count} goes beyond the last index, ${mostFarmers - 1}. Use lower numbers.`,
      );
    }
    await writeRecords(kindOf(call), { from, count, format }, io.stdout, io.stopSignal());
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

type Cell = string | number | boolean | null;

/** A kind of record, with what the formats require. */
interface RecordKind<Item extends object> {
  /** Returns the record at an index, counted from 0. */
  readonly at: (index: number) => Item;
  readonly row: (item: Item) => Readonly<Record<string, Cell>>;
  /** Returns the record's GeoJSON Features; none without a location. */
  readonly features: (item: Item) => readonly object[];
}

/** Number of characters to write together: large enough for speed, small enough for `| head`. */
const portion = 64 * 1024;

/**
 * Writes `count` records, starting at an index, as fast as they are read. Keeps none. Ends early if the reader is gone or
 * the signal is aborted.
 */
async function writeRecords<Item extends object>(
  kind: RecordKind<Item>,
  { from, count, format }: { from: number; count: number; format: RecordFormat },
  output: Output,
  stop: AbortSignal,
): Promise<void> {
  const { head = "", textsOf, separator = "", tail = "" } = await layoutOf(kind, format, count);
  let waiting = head;
  let before = "";
  for (let index = from; index < from + count; index++) {
    for (const text of textsOf(kind.at(index))) {
      waiting += before + text;
      before = separator;
    }
    if (waiting.length < portion) continue;
    output.write(waiting);
    waiting = "";
    const isRead = (await output.room?.(stop)) ?? true;
    if (!isRead || stop.aborted) return;
  }
  output.write(waiting + tail);
  await output.room?.(stop);
}

interface Layout<Item> {
  readonly head?: string;
  readonly textsOf: (item: Item) => readonly string[];
  /** Separates two texts. */
  readonly separator?: string;
  readonly tail?: string;
}

async function layoutOf<Item extends object>(
  { at, row, features }: RecordKind<Item>,
  format: RecordFormat,
  count: number,
): Promise<Layout<Item>> {
  const member = (value: object) => `\n${JSON.stringify(value)}`;
  const list = { separator: ",", tail: "\n]\n" };
  switch (format) {
    case "ndjson":
      return { textsOf: (item) => [`${JSON.stringify(item)}\n`] };
    case "json":
      return { ...list, head: "[", textsOf: (item) => [member(item)] };
    case "geojson": {
      const head = '{"type":"FeatureCollection","features":[';
      return { ...list, head, textsOf: (item) => features(item).map(member), tail: "\n]}\n" };
    }
    case "yaml": {
      // Other formats do not load the YAML writer.
      const { yamlText } = await import("../../scenario/yaml.js");
      return { head: count === 0 ? "[]\n" : "", textsOf: (item) => [yamlText([item])] };
    }
    case "csv": {
      const head = csvLine(Object.keys(row(at(0))));
      return { head, textsOf: (item) => [csvLine(Object.values(row(item)))] };
    }
  }
}

// RFC 4180, except for Unix line ends.
function csvLine(cells: readonly Cell[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${cells.map((cell) => quoted(String(cell ?? ""))).join(",")}\n`;
}
