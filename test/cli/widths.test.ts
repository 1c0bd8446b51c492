import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.js";
import { columnsOf, wrapLines } from "../../src/cli/tell.js";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { probeKeys, serveProbed } from "../support/probed-server.js";
import { baseUrl, type RunOptions, runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// A word alone on its line is not cut, and a command on its own is there to be copied.
const isWhole = /^\s*\S+$|^\s+(?:curl|svc-sandbox|npx) /;

/** The lines of more than 80 columns that can be broken. */
function tooLong(text: string): string[] {
  const lines = stripVTControlCharacters(text).split(/[\r\n]+/);
  return lines.filter((line) => line.length > 80 && !isWhole.test(line));
}

const helps = [[], ...Object.keys(commands).map((name) => [name])].map((words) => [...words, "--help"]);
const told = [
  ["list"],
  ...scenarioNames.map((name) => ["keys", name]),
  ...scenarioNames.map((name) => ["verify", name]),
  ...["none", "live-suspended", "SVC_live_4f9a8b7c6d5e4f3a2b1c"].map((key) => ["explain", key, "key-states"]),
  ["explain", "cut-short", "bad-day"],
];
const narrow: readonly RunOptions[] = [{ asPrinted: true }, { terminal: true, columns: 80 }];

test.each([
  ...helps,
  ...told,
])("%s %s %s keeps to 80 columns, on a terminal and in a pipe", async (...words) => {
  for (const options of narrow) {
    const { code, stdout } = await runCli(words.filter(Boolean), { cwd: temporaryFolder(), ...options });
    expect(code).toBe(0);
    expect(tooLong(stdout)).toEqual([]);
  }
});

test.each(
  scenarioNames,
)("start %s keeps to 80 columns on a terminal; in a pipe its curl line is one", async (name) => {
  for (const options of narrow) {
    const running = serve([name], options);
    await running.stdout.shows(/Try it:\n[\s\S]*\n\n/);
    const { stdout } = await running.stop();
    expect(tooLong(stdout)).toEqual([]);
    if (!options.terminal) expect(stdout).toMatch(/^ {2}curl -i .*\/me$/m);
  }
});

const broken = `version: 1
colour: ${"a long value ".repeat(12)}
organizations: { bank: { type: bank, keys: { main: { environment: test }, second: { environment: tst, colour: red } } } }
`;
const long = `version: 1
organizations: { bank: { type: bank, keys: { main: { environment: test } } } }
story:
  - say: ${"One that is told at some length. ".repeat(6)}
  - request: { key: main, path: "/v1/${"long/".repeat(30)}" }
    expect: { status: 200 }
`;

test.each([
  ["validate", "broken.yaml"],
  ["start", "broken.yaml"],
  ["validate", "long.yaml"],
  ["verify", "long.yaml"],
  ["play", "long.yaml"],
  ["play", "rotation"],
  ["start", "--port", "http"],
  ["start", "--log", "xml", "--seed", "of a kind that no seed is"],
  ["nothing-that-there-is"],
  ["explain", "nothing-like-it"],
  ["exec", "--", "no-such-program"],
  ["certify", "--seeds", "0", "--", process.execPath, "-e", "process.exitCode = 1"],
  ["certify", "--seeds", "0", "--", process.execPath, "-e", "throw new Error('it went wrong, '.repeat(20))"],
  ["certify", "--seeds", "0", "--", process.execPath, "-e", "0"],
])("%s %s %s keeps to 80 columns in what it says", async (...words) => {
  for (const options of narrow) {
    const cwd = temporaryFolder({ "broken.yaml": broken, "long.yaml": long });
    const { stdout, stderr } = await runCli(words.filter(Boolean), { cwd, ...options });
    expect(stdout + stderr).not.toBe("");
    expect(tooLong(stdout + stderr)).toEqual([]);
  }
});

test("the request log keeps to 80 columns, with all that a request was told", async () => {
  for (const options of narrow) {
    const running = serve(["key-states"], options);
    const url = await baseUrl(running);
    const { secret } = JSON.parse((await runCli(["keys", "--json"], { cwd: temporaryFolder() })).stdout)[4];
    for (let sent = 0; sent < 3; sent++) {
      await fetch(`${url}/v1/relying-party/me?key=1`, {
        headers: { "x-api-key": secret, origin: "https://a.example" },
      });
    }
    await running.stderr.shows(/(?:401\.revoked[\s\S]*){3}\n$/);
    const { stderr } = await running.stop();
    expect(tooLong(stderr)).toEqual([]);
  }
});

test("lines have the columns of the terminal, else 80; commands and words stay whole", () => {
  const all = Number.POSITIVE_INFINITY;
  const widths = [columnsOf({}), columnsOf({ columns: 100 }), columnsOf({ columns: 100 }, true)];
  expect(widths).toEqual([80, 100, all]);
  const json = [
    '  { "message": "one two three" }',
    '    "message": "one two three",',
    '  {"data":{"name":"one two',
  ];
  for (const line of json) expect(wrapLines(line, 16)).toBe(line);
  expect(wrapLines("See it again: svc-sandbox exec -- npm test", 16)).toBe(
    "See it again:\n  svc-sandbox exec -- npm test",
  );
  expect(wrapLines("  one `two three` four\n  curl -i http://a/b c d\nabcdefghijklmnop", 12)).toBe(
    "  one\n  `two three`\n  four\n  curl -i http://a/b c d\nabcdefghijklmnop",
  );
  expect(wrapLines(`${"x".repeat(40)}: y\n${" ".repeat(40)}^`, 20)).toMatch(/^.{1,20}\n {1,19}\^$/);
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
    ...["tell.ts: .write", "tell.ts: .write"],
  ]);
});

test("reports and checks keep to 80 columns", async () => {
  const exec = ["exec", "--", process.execPath, "-e", 'fetch(process.env.SVC_BASE_URL + "/v1/nothing?x=1")'];
  const { stderr } = await runCli(exec, { cwd: temporaryFolder(), asPrinted: true });
  expect(stderr).toContain("How to cover them");
  expect(tooLong(stderr)).toEqual([]);
  const { url } = await serveProbed(() => {});
  const { stdout } = await runCli(["check", url], { env: probeKeys });
  expect(tooLong(stdout)).toEqual([]);
});

test.each([
  ["keys"],
  ["explain", "live-suspended"],
  ["verify", "rotation"],
])("%s has more on a wide terminal, and everything with --wide", async (...words) => {
  const cwd = temporaryFolder();
  const at = async (options: RunOptions, ...flags: string[]) =>
    (await runCli([...words, ...flags], { cwd, env: { NO_COLOR: "1" }, ...options })).stdout.replace(
      // The clock runs.
      /\d+ ms|\.\d+Z/g,
      "",
    );
  const wide = await at({ terminal: true, columns: 80 }, "--wide");
  expect(tooLong(wide)).not.toEqual([]);
  expect(await at({ terminal: true, columns: 400 })).toBe(wide);
  expect(tooLong(await at({ terminal: true, columns: 110 }))).not.toEqual([]);
});
