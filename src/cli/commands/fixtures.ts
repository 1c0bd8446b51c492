import { farmerAt, farmerFeatures, farmerRow } from "../../farmers/make-farmers.js";
import { resolveLocale } from "../../farmers/tables.js";
import { farmerLocaleChoices, maxFarmers } from "../../rules/farmer-locales.js";
import { listed, quote } from "../../rules/schema/words.js";
import { buildOrganization } from "../../sandbox/scenario-keys.js";
import { populatedOrganization, populatedRef } from "../../scenario/population.js";
import { type CallOf, declareCommand } from "../command.js";
import { usageError } from "../exit-codes.js";
import * as flag from "../flags.js";
import type { Printer } from "../terminal.js";

/** The bundled scenarios' start time: without `--now`, farmers are the same every day. */
const defaultNow = Date.UTC(2026, 2, 2, 9);

const readLocale = flag.reader(resolveLocale, listed(farmerLocaleChoices, "or"));

// A farmer's life starts decades earlier.
function readFarmerTime(text: string, from: string): number {
  const time = flag.readClockStart(text, from);
  if (new Date(time).getUTCFullYear() >= 1900) return time;
  throw usageError(`Invalid ${from}: ${quote(text)}: the earliest time is in 1900.`);
}

const recordFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
type RecordFormat = (typeof recordFormats)[number];

const flags = {
  count: flag.plainOption(
    "--count <number>",
    "number of records (default: 10)",
    flag.wholeNumber(0, maxFarmers),
  ),
  from: flag.plainOption(
    "--from <index>",
    "index of the first record, counted from 0 (default: 0)",
    flag.wholeNumber(0, maxFarmers - 1),
  ),
  format: flag.plainOption(
    "--format <format>",
    "ndjson, json, yaml, csv, or geojson for the fields of farmers (default: ndjson)",
    flag.oneOf(recordFormats),
  ),
  locale: flag.plainOption(
    "--locale <name>",
    "locale of the farmers, such as en_GH or pt_BR, or a language for all of its locales (default: all locales)",
    readLocale,
  ),
  seed: flag.option("--seed <number>", "seed of the records (default: 1)", flag.readSeed),
  now: flag.option(
    "--now <time>",
    "time that the dates of farmers depend on, with a zone (default: 2026-03-02T09:00:00Z, the start of the bundled scenarios)",
    readFarmerTime,
  ),
};
type FixturesCall = CallOf<typeof flags>;

export const fixturesCommand = declareCommand({
  summary: "print seeded synthetic records: organizations or farmers",
  description:
    "Prints synthetic records on stdout, in constant memory. The same seed, index, locale and time produce the same record. Organizations are a scenario's population; fixtures/README.md describes farmers. In CSV, lists are counted or summed.",
  words: { "<kind>": "organizations or farmers" },
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
    if (from + count > maxFarmers) {
      throw usageError(
        `--from ${from} --count ${count} goes beyond the last index, ${maxFarmers - 1}. Use lower numbers.`,
      );
    }
    await writeRecords(fixtureRecords(call), { from, count, format }, io.stdout, io.stopSignal());
  },
});

type FixtureValue = string | number | boolean | null;

interface Records {
  readonly at: (index: number) => object;
  readonly row: (index: number) => Readonly<Record<string, FixtureValue>>;
  /** Returns a record's GeoJSON Features; none without a location. */
  readonly features: (index: number) => readonly object[];
}

function fixtureRecords({ words: [word = ""], flags }: FixturesCall): Records {
  const { seed = 1, now: start = defaultNow, locale: locales, format } = flags;
  if (flag.oneOf(["organizations", "farmers"])(word, "kind of records") === "farmers") {
    const source = { seed, start, ...(locales !== undefined && { locales }) };
    const at = (index: number) => farmerAt(source, index);
    return { at, row: (index) => farmerRow(at(index)), features: (index) => farmerFeatures(at(index)) };
  }
  if (locales !== undefined || format === "geojson")
    throw usageError("--locale and --format geojson are only for farmers: organizations have no location.");
  // A scenario's population with refs, as in the API; index 0 is `organization-1`.
  const at = (index: number) => {
    const number = index + 1;
    const settings = populatedOrganization(number);
    const { ref, id, name, type } = buildOrganization(populatedRef(number), settings, seed);
    return { ref, id, name, type };
  };
  return { at, row: at, features: () => [] };
}

/** Number of characters to write together: large enough for speed, small enough for `| head`. */
const portion = 64 * 1024;

/** As fast as they are read. Ends early if the reader is gone or the signal is aborted. */
async function writeRecords(
  records: Records,
  { from, count, format }: { from: number; count: number; format: RecordFormat },
  output: Printer,
  stop: AbortSignal,
): Promise<void> {
  const { head = "", textsOf, separator = "", tail = "" } = await layoutOf(records, format, count);
  let waiting = head;
  let before = "";
  for (let index = from; index < from + count; index++) {
    for (const text of textsOf(index)) {
      waiting += before + text;
      before = separator;
    }
    if (waiting.length < portion) continue;
    output.write(waiting);
    waiting = "";
    const isRead = await output.room(stop);
    if (!isRead || stop.aborted) return;
  }
  output.write(waiting + tail);
  await output.room(stop);
}

interface Layout {
  readonly head?: string;
  readonly textsOf: (index: number) => readonly string[];
  readonly separator?: string;
  readonly tail?: string;
}

async function layoutOf(
  { at, row, features }: Records,
  format: RecordFormat,
  count: number,
): Promise<Layout> {
  const member = (value: object) => `\n${JSON.stringify(value)}`;
  const list = { head: "[", separator: ",", tail: "\n]\n" };
  switch (format) {
    case "ndjson":
      return { textsOf: (index) => [`${JSON.stringify(at(index))}\n`] };
    case "json":
      return { ...list, textsOf: (index) => [member(at(index))] };
    case "geojson": {
      const head = '{"type":"FeatureCollection","features":[';
      return { ...list, head, textsOf: (index) => features(index).map(member), tail: "\n]}\n" };
    }
    case "yaml": {
      // Other formats do not load the YAML writer.
      const { yamlText } = await import("../../scenario/yaml.js");
      return { head: count === 0 ? "[]\n" : "", textsOf: (index) => [yamlText([at(index)])] };
    }
    case "csv":
      return { head: csvLine(Object.keys(row(0))), textsOf: (index) => [csvLine(Object.values(row(index)))] };
  }
}

// The rows are as in RFC 4180, except for Unix line ends.
function csvLine(cells: readonly FixtureValue[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${cells.map((cell) => quoted(String(cell ?? ""))).join(",")}\n`;
}
