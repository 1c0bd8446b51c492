import { type Output, writeData } from "./tell.js";

export const recordFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
type RecordFormat = (typeof recordFormats)[number];

type Cell = string | number | boolean | null;

/** A kind of record, and what the formats need of it. */
export interface RecordKind<Item extends object> {
  /** The record at an index, counted from 0. */
  readonly at: (index: number) => Item;
  readonly row: (item: Item) => Readonly<Record<string, Cell>>;
  /** GeoJSON Features of the record; none where it has no location. */
  readonly features: (item: Item) => readonly object[];
}

/** Characters that are written at once: large enough for speed, small enough for `| head`. */
const portion = 64 * 1024;

/**
 * Writes `count` records from an index on as fast as they are read, and keeps none; ends early when the reader has gone
 * or the signal is aborted.
 */
export async function writeRecords<Item extends object>(
  kind: RecordKind<Item>,
  { from, count, format, bom }: { from: number; count: number; format: RecordFormat; bom: boolean },
  output: Output,
  stop: AbortSignal,
): Promise<void> {
  const { head = "", textsOf, separator = "", tail = "" } = await layoutOf(kind, format, count);
  let waiting = bom ? `\u{feff}${head}` : head;
  let before = "";
  for (let index = from; index < from + count; index++) {
    for (const text of textsOf(kind.at(index))) {
      waiting += before + text;
      before = separator;
    }
    if (waiting.length < portion) continue;
    writeData(output, waiting);
    waiting = "";
    const isRead = (await output.room?.(stop)) ?? true;
    if (!isRead || stop.aborted) return;
  }
  writeData(output, waiting + tail);
  await output.room?.(stop);
}

interface Layout<Item> {
  readonly head?: string;
  readonly textsOf: (item: Item) => readonly string[];
  /** Stands between two texts. */
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
      // Other formats need not load the YAML writer.
      const { yamlText } = await import("../scenario/yaml.js");
      return { head: count === 0 ? "[]\n" : "", textsOf: (item) => [yamlText([item])] };
    }
    case "csv": {
      const head = csvLine(Object.keys(row(at(0))));
      return { head, textsOf: (item) => [csvLine(Object.values(row(item)))] };
    }
  }
}

// RFC 4180, except for the line ends, which are those of Unix.
function csvLine(cells: readonly Cell[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${cells.map((cell) => quoted(String(cell ?? ""))).join(",")}\n`;
}
