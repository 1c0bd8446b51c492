import type { CommandRow } from "./command.js";

/** The command `fixtures`. */
export const fixturesRow: CommandRow = {
  name: "fixtures",
  summary: "print seeded synthetic records: organizations or farmers",
  description:
    "Prints synthetic records on stdout, as many as asked for: memory does not grow with their number. The same seed, index, locale and time give the same record. Organizations are those that a scenario's population has; farmers are described in docs/farmers.md. As CSV, what has many parts is counted or summed.",
  words: [{ spec: "<kind>", text: "organizations or farmers" }],
  flags: ["count", "from", "fixtureFormat", "locale", "fixtureSeed", "datesFrom", "verbose"],
  examples: [
    { line: "svc-sandbox fixtures farmers", does: "ten of them, one JSON object a line" },
    {
      line: "svc-sandbox fixtures farmers --count 1000 --locale en --format csv > farmers.csv",
      does: "a table",
    },
    {
      line: "svc-sandbox fixtures farmers --count 200 --format geojson > fields.geojson",
      does: "their fields, for a map",
    },
    {
      line: "svc-sandbox fixtures organizations --from 199 --count 1",
      does: "the two hundredth bank or insurer",
    },
  ],
  load: async () => (await import("./commands/fixtures.js")).fixtures,
};
