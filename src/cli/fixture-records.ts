import type { Organization } from "../domain/organization.js";
import { buildOrganizations } from "../sandbox/create-world.js";
import { populatedOrganization, populatedRef } from "../scenario/population.js";
import { farmerColumns, farmerFeatures, farmerRow } from "../synthetic/farmers/farmer-export.js";
import type { Farmer } from "../synthetic/farmers/farmer-schema.js";
import { type FarmerSource, farmerAt } from "../synthetic/farmers/farmers.js";
import type { Output } from "./io.js";

/** The formats in which records can be written. */
export const fixtureFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
export type FixtureFormat = (typeof fixtureFormats)[number];

type Cell = string | number | boolean | null;

/** A kind of record, and what the formats need of it. */
export interface RecordKind<Item extends object> {
  /** The record at an index, counted from 0. */
  readonly at: (index: number) => Item;
  readonly columns: readonly string[];
  /** The record as one flat row. */
  readonly row: (item: Item) => Readonly<Record<string, Cell>>;
  /** GeoJSON Features of the record; none where it has no location. */
  readonly features: (item: Item) => readonly object[];
}

/** Synthetic farmers. */
export function farmerRecords(source: FarmerSource): RecordKind<Farmer> {
  return {
    at: (index) => farmerAt(source, index),
    columns: farmerColumns,
    row: farmerRow,
    features: farmerFeatures,
  };
}

/** The organizations of a scenario's population, as the API shows them, under their refs; index 0 is `organization-1`. */
export function organizationRecords(
  seed: number,
): RecordKind<Pick<Organization, "ref" | "id" | "name" | "type">> {
  return {
    at(index) {
      const number = index + 1;
      const organizations = { [populatedRef(number)]: populatedOrganization(number, 0) };
      const [made] = buildOrganizations({ version: 1, organizations }, seed);
      const { ref, id, name, type } = made as Organization;
      return { ref, id, name, type };
    },
    columns: ["ref", "id", "name", "type"],
    row: (organization) => ({ ...organization }),
    features: () => [],
  };
}

/** The text of `count` records from an index on, piece by piece: no record is kept. */
export async function recordTexts<Item extends object>(
  { at, columns, row, features }: RecordKind<Item>,
  { from, count, format }: { from: number; count: number; format: FixtureFormat },
): Promise<Iterable<string>> {
  function* textOfEach(textOf: (item: Item) => string) {
    for (let index = from; index < from + count; index++) yield textOf(at(index));
  }
  function* jsonList(membersOf: (item: Item) => readonly object[]) {
    let separator = "\n";
    for (let index = from; index < from + count; index++) {
      for (const member of membersOf(at(index))) {
        yield separator + JSON.stringify(member);
        separator = ",\n";
      }
    }
  }
  switch (format) {
    case "ndjson":
      return textOfEach((item) => `${JSON.stringify(item)}\n`);
    case "json":
      return framed(
        "[",
        jsonList((item) => [item]),
        "\n]\n",
      );
    case "geojson":
      return framed('{"type":"FeatureCollection","features":[', jsonList(features), "\n]}\n");
    case "yaml": {
      // Other formats need not load the YAML writer.
      const { yamlText } = await import("../scenario/read/yaml.js");
      return count === 0 ? ["[]\n"] : textOfEach((item) => yamlText([item]));
    }
    case "csv": {
      const lineOf = (item: Item) => {
        const cells = row(item);
        return csvLine(columns.map((column) => cells[column] ?? ""));
      };
      return framed(csvLine(columns), textOfEach(lineOf));
    }
  }
}

function* framed(head: string, texts: Iterable<string>, tail = "") {
  yield head;
  yield* texts;
  yield tail;
}

// RFC 4180, except for the line ends, which are those of Unix.
function csvLine(cells: readonly Cell[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${cells.map((cell) => quoted(String(cell))).join(",")}\n`;
}

/** Characters that are written at once: large enough for speed, small enough for `| head`. */
const portion = 64 * 1024;

/** Writes texts as fast as they are read; ends early when the reader has gone or the signal is aborted. */
export async function writeTexts(texts: Iterable<string>, output: Output, stop: AbortSignal): Promise<void> {
  let waiting = "";
  for (const text of texts) {
    waiting += text;
    if (waiting.length < portion) continue;
    output.write(waiting);
    waiting = "";
    const isRead = (await output.room?.(stop)) ?? true;
    if (!isRead || stop.aborted) return;
  }
  output.write(waiting);
  await output.room?.(stop);
}
