import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { commands } from "../../src/cli/commands.js";
import { scenarioNames } from "../../src/scenario/bundled.js";
import { probeKeys, serveProbed } from "../support/probed-server.js";
import { type RunOptions, runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** The length of the longest line; a word alone on its line is not cut. */
function longest(text: string): number {
  const lines = stripVTControlCharacters(text).split("\n");
  return Math.max(...lines.filter((line) => line.trim().includes(" ")).map(({ length }) => length));
}

const helps = [[], ...Object.keys(commands).map((name) => [name])].map((words) => [...words, "--help"]);
const told = [
  ["list"],
  ...scenarioNames.map((name) => ["keys", name]),
  ...scenarioNames.map((name) => ["verify", name]),
  ...["none", "live-suspended", "SVC_live_4f9a8b7c6d5e4f3a2b1c"].map((key) => ["explain", key, "key-states"]),
  ["explain", "cut-short", "bad-day"],
];
const narrow: readonly RunOptions[] = [{}, { terminal: true, columns: 80 }];

test.each([
  ...helps,
  ...told,
])("%s %s %s keeps to 80 columns, on a terminal and in a pipe", async (...words) => {
  for (const options of narrow) {
    const { code, stdout } = await runCli(words.filter(Boolean), { cwd: temporaryFolder(), ...options });
    expect(code).toBe(0);
    expect(longest(stdout)).toBeLessThanOrEqual(80);
  }
});

test.each(
  scenarioNames,
)("start %s keeps to 80 columns on a terminal; in a pipe its curl line is one", async (name) => {
  for (const options of narrow) {
    const running = serve([name], options);
    await running.stdout.shows(/Try it:\n[\s\S]*\n\n/);
    const { stdout } = await running.stop();
    const lines = options.terminal ? stdout : stdout.replace(/^ {2}curl .*$/m, "");
    expect(longest(lines)).toBeLessThanOrEqual(80);
  }
});

test("reports and checks keep to 80 columns", async () => {
  const exec = ["exec", "--", process.execPath, "-e", 'fetch(process.env.SVC_BASE_URL + "/v1/nothing?x=1")'];
  const { stderr } = await runCli(exec, { cwd: temporaryFolder() });
  expect(stderr).toContain("How to meet the others");
  expect(longest(stderr)).toBeLessThanOrEqual(80);
  const { url } = await serveProbed(() => {});
  const { stdout } = await runCli(["check", url], { env: probeKeys });
  expect(longest(stdout)).toBeLessThanOrEqual(80);
});

test.each([
  ["list"],
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
  expect(longest(wide)).toBeGreaterThan(80);
  expect(await at({ terminal: true, columns: 400 })).toBe(wide);
  expect(longest(await at({ terminal: true, columns: 110 }))).toBeGreaterThan(80);
});
