import { mostFarmers } from "../../domain/farmer.js";
import { listed, nearest, quote } from "../../scenario/problems/words.js";
import { resolveLocale } from "../../synthetic/farmers/tables.js";
import type { Call, Run } from "../command.js";
import { exitCode } from "../exit-codes.js";
import {
  farmerRecords,
  formatOf,
  organizationRecords,
  type RecordKind,
  writeRecords,
} from "../fixture-records.js";
import { usageError } from "../usage-error.js";

/** The start of the clocks of the bundled scenarios: without `--now`, farmers are the same every day. */
const defaultNow = Date.UTC(2026, 2, 2, 9);

const firstYear = 1900;
const lastYear = 9990;

/** `svc-sandbox fixtures` */
export const fixtures: Run = async (call) => {
  const { flags, io } = call;
  const { count = 10, from = 0, fixtureFormat = "ndjson" } = flags;
  if (from + count > mostFarmers) {
    throw usageError(
      `Failed to read the command line: --from ${from} --count ${count} goes beyond the last index, ${mostFarmers - 1}. Give less.`,
    );
  }
  const kind = kindOf(call) as RecordKind<object>;
  const format = await formatOf(kind, fixtureFormat);
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
      "Failed to read the command line: --locale is for farmers: organizations have no location. Leave it out.",
    );
  }
  const suggestion = nearest(word, kinds);
  throw usageError(
    `Failed to make ${quote(word)}: there are ${listed(kinds, "and")}.${suggestion === undefined ? "" : ` Did you mean ${suggestion}?`}`,
  );
}

// A farmer's life begins decades before it, and the last loans fall due years after it.
function refuseFarDates(start: number): void {
  const year = new Date(start).getUTCFullYear();
  if (year >= firstYear && year <= lastYear) return;
  throw usageError(
    `Failed to read --now: the year is ${year}, and farmers have dates decades before and years after it. Give a time from ${firstYear} to ${lastYear}.`,
  );
}
