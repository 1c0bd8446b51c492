import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tell } from "../../src/cli/terminal.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const wide = `version: 1
organizations: { bank: { type: bank, keys: { main: { environment: test } } } }
story:
  - say: ${"One that is told at some length. ".repeat(6)}
  - { name: ${"a long name ".repeat(8)}, advance: 1m, expects: { status: 200 } }
`;

test.each([
  ["explain", "SVC_live_4f9a8b7c6d5e4f3a2b1c"],
  ["keys", "key-states"],
  ["play", "rotation"],
  ["validate", "wide.yaml"],
])("%s %s fits a terminal of 80 columns, and breaks no line in a pipe", async (...words) => {
  const run = async (columns?: number) => {
    const options = columns === undefined ? {} : { terminal: true, columns };
    const cwd = temporaryFolder({ "wide.yaml": wide });
    const { stdout, stderr } = await runCli(words, { cwd, env: { NO_COLOR: "1" }, ...options });
    return Math.max(...`${stdout}${stderr}`.split("\n").map(({ length }) => length));
  };
  expect(await run(80)).toBeLessThanOrEqual(80);
  expect(await run()).toBeGreaterThan(80);
});

const told = (text: string, columns?: number) => {
  let written = "";
  tell({ columns, write: (one) => (written += one) }, text);
  return written;
};

test.each([
  ['  { "message": "one two three" }'],
  ['    "message": "one two three",'],
  ["See it again: svc-sandbox exec -- npm test"],
  ["  curl -i http://a/b c d"],
  ["  per_minute: 60  # the limit in a header"],
  ["abcdefghijklmnopqrstuvwxyz"],
])("a terminal gets what is there to copy in one piece: %s", (line) => {
  expect(told(line, 16)).toBe(line);
});

test("a terminal's lines break at spaces, keep their indent, and an excerpt stays above its caret", () => {
  expect(told("  one `two three` four", 12)).toBe("  one\n  `two three`\n  four");
  expect(told("  one `two three` four")).toBe("  one `two three` four");
  expect(told("  name: { a: b }\n  ^", 12)).toBe("  name: { a: b }\n  ^");
});

test("one function writes to people, one writes data, and nothing else in the command line writes", () => {
  const folder = join(import.meta.dirname, "../../src/cli");
  const writing = /\.write\b|\bconsole\.|\bprocess\.std(?:out|err)\b/g;
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name) =>
      Array.from(readFileSync(join(folder, name), "utf8").matchAll(writing), ([what]) => `${name}: ${what}`),
    );
  expect(found.toSorted()).toEqual([
    // Both only make the outputs that those two functions are given.
    "cli.ts: .write",
    ...["io.ts: .write", "io.ts: process.stderr", "io.ts: process.stdout"],
    "terminal.ts: .write",
    "terminal.ts: .write",
  ]);
});
