import { mostFarmers } from "../../domain/farmer-locales.js";
import { nearest } from "../../scenario/nearest.js";
import { listed, quote } from "../../scenario/quote.js";
import { resolveLocale } from "../../synthetic/farmers/tables.js";
import type { Call, Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import { csv } from "../fixtures/as-csv.js";
import { geojson, json, ndjson } from "../fixtures/as-json.js";
import type { RecordFormat, RecordKind } from "../fixtures/record-format.js";
import { farmerRecords, organizationRecords } from "../fixtures/record-kinds.js";
import { writeRecords } from "../fixtures/write-records.js";
import type { Flags } from "../flags.js";
import { usageError } from "../usage-error.js";

/** When the clocks of the bundled scenarios start: without `--now`, farmers are the same ones every day. */
const defaultNow = Date.UTC(2026, 2, 2, 9);

const firstYear = 1900;
const lastYear = 9990;

/** `svc-sandbox fixtures` */
export const fixtures: Run = async (call) => {
  const { flags, io } = call;
  const { count = 10, from = 0 } = flags;
  if (from + count > mostFarmers) {
    throw usageError(
      `Failed to read the command line: --from ${from} --count ${count} goes beyond the last index, ${mostFarmers - 1}. Give less.`,
    );
  }
  const kind = kindOf(call) as RecordKind<object>;
  const format = await formatOf(kind, flags);
  await writeRecords({ at: kind.at, from, count }, format, io.stdout, io.stopSignal());
  return exitCode.fine;
};

const kinds = ["organizations", "farmers"];

function kindOf({ words: [word = ""], flags }: Call) {
  const { fixtureSeed: seed = 1, datesFrom: start = defaultNow, locale } = flags;
  if (word === "farmers") {
    refuseFarDates(start);
    const locales = locale === undefined ? undefined : resolveLocale(locale);
    return farmerRecords({ seed, start, ...(locales !== undefined && { locales }) });
  }
  if (word === "organizations") {
    if (locale === undefined) return organizationRecords(seed);
    throw usageError(
      "Failed to read the command line: --locale says where farmers live, and organizations live nowhere. Leave it out.",
    );
  }
  const meant = nearest(word, kinds);
  throw usageError(
    `Failed to make ${quote(word)}: there are ${listed(kinds, "and")}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`,
  );
}

// A farmer's life begins decades before it, and the last loans fall due years after it.
function refuseFarDates(start: number): void {
  const year = new Date(start).getUTCFullYear();
  if (year >= firstYear && year <= lastYear) return;
  throw usageError(
    `Failed to read --now: the dates of farmers go decades before it and some years beyond it, and ${year} is too far away for that. Give a time from ${firstYear} to ${lastYear}.`,
  );
}

async function formatOf(
  kind: RecordKind<object>,
  { fixtureFormat = "ndjson" }: Flags,
): Promise<RecordFormat<object>> {
  switch (fixtureFormat) {
    case "csv":
      return csv(kind);
    // Other formats need not load what writes this one.
    case "yaml":
      return (await import("../fixtures/as-yaml.js")).yaml;
    case "geojson":
      if (kind.features !== undefined) return geojson(kind.features);
      throw usageError(
        "Failed to read the command line: --format geojson is for farmers, whose fields lie somewhere. Give another format.",
      );
    default:
      return fixtureFormat === "json" ? json : ndjson;
  }
}
