import type { Peer } from "./peer.js";
import { peers } from "./peers.js";
import { keyCounts, type PeerResult, type Reading, type Results } from "./results.js";

/** What stands on the page between its marks: the plot, the tables and how each peer was set up. */
export function partOf(results: Results): string {
  return [
    `![${textOf(results)}](images/peers.svg)`,
    tablesOf(results),
    `Measured on ${results.machine}.`,
    notesOf(results),
  ].join("\n\n");
}

/** The tables, as Markdown. */
export function tablesOf(results: Results): string {
  return [loadTable(results), startTable(results)].join("\n\n");
}

/** Each peer that was measured, in the order of the table. */
export function measured(results: Results): (Peer & { readonly result: PeerResult })[] {
  return peers.flatMap((peer) => {
    const result = results.peers[peer.name];
    return result === undefined ? [] : [{ ...peer, result }];
  });
}

/** What was measured of a peer with a number of keys; `undefined` where nothing could be. */
export function readingOf({ readings }: PeerResult, keys: number): Reading | undefined {
  const reading = readings[keys];
  return reading === undefined || "failure" in reading ? undefined : reading;
}

/** A number with two digits that count. */
export function short(value: number): string {
  return value >= 10 ? Math.round(Number(value.toPrecision(2))).toLocaleString("en") : twoDigits(value);
}

function twoDigits(value: number): string {
  const decimals = Math.max(0, 1 - Math.floor(Math.log10(value)));
  return value.toFixed(decimals);
}

const counts = keyCounts.map((keys) => keys.toLocaleString("en"));

function loadTable(results: Results): string {
  const head = [
    "",
    ...counts.map((count) => `requests per second, ${count} keys`),
    ...counts.map((count) => `p99, ${count} keys`),
  ];
  const rows = measured(results).map(({ result, ...peer }) => [
    titleOf(peer),
    ...keyCounts.map((keys) =>
      cell(result, keys, ({ requests }) => {
        return `${short(requests.median)} (${short(requests.least)}–${short(requests.most)})`;
      }),
    ),
    ...keyCounts.map((keys) => cell(result, keys, ({ p99 }) => short(p99.median))),
  ]);
  return markdown(head, rows);
}

function startTable(results: Results): string {
  const head = [
    "",
    ...counts.map((count) => `first answer, ${count} keys`),
    ...[keyCounts[0], keyCounts[2]].map((keys) => `MB idle → after, ${keys.toLocaleString("en")} keys`),
    ...["MB on disk", "packages"],
  ];
  const rows = measured(results).map(({ result, ...peer }) => [
    titleOf(peer),
    ...keyCounts.map((keys) => cell(result, keys, ({ firstAnswer }) => short(firstAnswer.median))),
    ...[keyCounts[0], keyCounts[2]].map((keys) =>
      cell(result, keys, ({ memory }) => `${megabytes(memory.idle)} → ${megabytes(memory.after)}`),
    ),
    `${short(result.size.bytes / 1e6)}${peer.name === "wiremock" ? " and Java" : ""}`,
    String(result.size.packages),
  ]);
  return markdown(head, rows);
}

function notesOf(results: Results): string {
  const notes = measured(results).map(({ title, setUp, result }) => {
    const failures = Object.entries(result.readings).flatMap(([keys, reading]) =>
      "failure" in reading ? [` With ${Number(keys).toLocaleString("en")} keys: ${reading.failure}.`] : [],
    );
    return `- **${title} ${result.version}.** ${setUp}${failures.join("")}`;
  });
  return notes.join("\n");
}

/** What the plot shows, for those who cannot see it. */
export function textOf(results: Results): string {
  const parts = measured(results).map(({ title, result }) => {
    const ratios = keyCounts.map((keys) => cell(result, keys, ({ requests }) => short(requests.median)));
    const first = cell(result, keyCounts[0], ({ firstAnswer }) => short(firstAnswer.median));
    return `${title} ${ratios.join(", ")}; ${first}`;
  });
  return `Requests per second against a bare server with ${counts.join(", ")} keys, and the first answer against node -e 0 with ${counts[0]}: ${parts.join(". ")}.`;
}

function titleOf({ title, caveat }: Peer): string {
  return caveat === undefined ? title : `${title} (${caveat})`;
}

function cell(result: PeerResult, keys: number, of: (reading: Reading) => string): string {
  const reading = readingOf(result, keys);
  return reading === undefined ? "–" : of(reading);
}

function megabytes(bytes: number): string {
  return Math.round(bytes / 1e6).toLocaleString("en");
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
