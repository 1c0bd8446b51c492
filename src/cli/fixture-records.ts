import type { Organization } from "../domain/organization.js";
import { buildOrganizations } from "../sandbox/create-world.js";
import { populatedOrganization, populatedRef } from "../scenario/population.js";
import { farmerColumns, farmerFeatures, farmerRow } from "../synthetic/farmers/farmer-export.js";
import type { Farmer } from "../synthetic/farmers/farmer-schema.js";
import { type FarmerSource, farmerAt } from "../synthetic/farmers/farmers.js";
import { usageError } from "./exit-codes.js";
import type { Output } from "./io.js";

/** The formats in which records can be written. */
export const fixtureFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
export type FixtureFormat = (typeof fixtureFormats)[number];

type Cell = string | number | boolean | null;

/** A kind of record, and what the formats need of it. */
export interface RecordKind<Item> {
  /** The record at an index, counted from 0. */
  readonly at: (index: number) => Item;
  readonly columns: readonly string[];
  /** The record as one flat row. */
  readonly row: (item: Item) => Readonly<Record<string, Cell>>;
  /** GeoJSON Features of the record; left out where it has no location. */
  readonly features?: (item: Item) => readonly object[];
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
  };
}

/** A format that turns records into text, one after the other; keeps no record. */
interface RecordFormat<Item> {
  readonly head: string;
  readonly record: (item: Item, isFirst: boolean) => string;
  readonly tail: string;
  /** The whole text when there is no record. Default: head and tail. */
  readonly empty?: string;
}

/** A format for a kind of records. */
export async function formatOf<Item extends object>(
  { columns, row, features }: RecordKind<Item>,
  format: FixtureFormat,
): Promise<RecordFormat<Item>> {
  switch (format) {
    case "ndjson":
      return { head: "", record: (item) => `${JSON.stringify(item)}\n`, tail: "" };
    case "json":
      return { head: "[", record: (item, isFirst) => listed(isFirst, item), tail: "\n]\n" };
    case "geojson":
      if (features === undefined) {
        throw usageError(
          "Failed to read the command line: --format geojson is for farmers: organizations have no location. Give another format.",
        );
      }
      return {
        head: '{"type":"FeatureCollection","features":[',
        record: (item, isFirst) =>
          features(item)
            .map((feature, index) => listed(isFirst && index === 0, feature))
            .join(""),
        tail: "\n]}\n",
      };
    case "yaml": {
      // Other formats need not load the YAML writer.
      const { yamlText } = await import("../scenario/read/yaml.js");
      return { head: "", record: (item) => yamlText([item]), tail: "", empty: "[]\n" };
    }
    case "csv":
      // RFC 4180 with a header line, except for the line ends, which are those of Unix.
      return {
        head: `${columns.join(",")}\n`,
        record(item) {
          const cells = row(item);
          return `${columns.map((column) => csvCell(cells[column] ?? null)).join(",")}\n`;
        },
        tail: "",
      };
  }
}

function listed(isFirst: boolean, item: object): string {
  return `${isFirst ? "\n" : ",\n"}${JSON.stringify(item)}`;
}

function csvCell(cell: Cell): string {
  const text = String(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Characters that are written at once: large enough for speed, small enough for `| head`. */
const portion = 64 * 1024;

/**
 * Writes the records from one index on as fast as they are read, so that memory does not grow with their number.
 *
 * Ends early when the reader has gone or the signal is aborted.
 */
export async function writeRecords<Item>(
  { at, from, count }: { at: (index: number) => Item; from: number; count: number },
  format: RecordFormat<Item>,
  output: Output,
  stop: AbortSignal,
): Promise<void> {
  // Returns whether to go on.
  const write = async (text: string) => {
    output.write(text);
    const isRead = (await output.room?.(stop)) ?? true;
    return isRead && !stop.aborted;
  };
  let text = count === 0 && format.empty !== undefined ? format.empty : format.head;
  for (let position = 0; position < count; position++) {
    text += format.record(at(from + position), position === 0);
    if (text.length < portion) continue;
    if (!(await write(text))) return;
    text = "";
  }
  await write(text + format.tail);
}
