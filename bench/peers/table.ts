import { peers } from "./peers.js";

export interface Reading {
  /** Requests per second, to a bare `node:http` server: the median, smallest and largest round. */
  readonly requests: readonly [median: number, least: number, most: number];
  readonly p99: number;
  /** The time from the start of the command to its first correct response, as a ratio to `node -e 0`. */
  readonly first: number;
  readonly memory: readonly [idle: number, after: number];
}

export type Readings = Readonly<Record<string, Reading | { readonly failure: string }>>;

export interface Results {
  readonly machine: string;
  readonly peers: Readonly<Record<string, { readonly version: string; readonly readings: Readings }>>;
}

export const keyCounts = [15, 1000] as const;

/** The results as Markdown: a table, the machine, and how each peer was set up. */
export function partOf({ machine, peers: results }: Results): string {
  const columns: Readonly<Record<string, (reading: Reading) => string>> = {
    "requests per second": ({ requests: [median, least, most] }) =>
      `${short(median)} (${short(least)}–${short(most)})`,
    p99: ({ p99 }) => short(p99),
    "first response": ({ first }) => short(first),
    "MB idle → after": ({ memory }) => memory.map((bytes) => short(bytes / 1e6)).join(" → "),
  };
  const cells = Object.entries(columns).flatMap(([title, of]) =>
    keyCounts.map((keys) => ({ title: `${title}, ${keys.toLocaleString("en")} keys`, keys, of })),
  );
  const measured = Object.entries(peers).flatMap(([name, peer]) => {
    const result = results[name];
    return result === undefined ? [] : [{ ...peer, ...result }];
  });
  const rows = measured.map(({ title, readings }) => [
    title,
    ...cells.map(({ keys, of }) => {
      const reading = readings[keys];
      return reading === undefined || "failure" in reading ? "–" : of(reading);
    }),
  ]);
  const notes = measured.map(({ title, version, setUp, readings }) => {
    const failures = Object.entries(readings).flatMap(([keys, reading]) =>
      "failure" in reading ? ` With ${keys} keys: ${reading.failure}.` : [],
    );
    return `- **${title} ${version}.** ${setUp}${failures.join("")}`;
  });
  const head = ["", ...cells.map(({ title }) => title)];
  const lines = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  return [lines.join("\n"), `Measured on ${machine}.`, notes.join("\n")].join("\n\n");
}

function short(value: number): string {
  if (value >= 10) return Math.round(Number(value.toPrecision(2))).toLocaleString("en");
  return value.toFixed(Math.max(0, 1 - Math.floor(Math.log10(value))));
}
