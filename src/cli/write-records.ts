import { type Output, writeData } from "./tell.js";

export const recordFormats = ["ndjson", "json", "yaml", "csv", "geojson"] as const;
type RecordFormat = (typeof recordFormats)[number];

type Cell = string | number | boolean | null;

/** A kind of record, with what the formats require. */
export interface RecordKind<Item extends object> {
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
      const { yamlText } = await import("../scenario/yaml.js");
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
