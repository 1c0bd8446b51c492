import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { baseUrl, runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// A user who starts ten thousand organizations does not want to see their keys, and a process has no room for them.

const population = (text: string) => `version: 1\nname: Many\npopulation: ${text}\n`;
const written =
  "organizations: { bank: { type: bank, keys: { first: { environment: test }, second: { environment: live } } } }\n";
const large = population("{ organizations: 700, keys_per_organization: 2 }") + written;

function start(file: string, argv: readonly string[]) {
  const cwd = temporaryFolder({ "many.yaml": file });
  return { cwd, running: serve(["start", "many.yaml", ...argv], { cwd }) };
}

test("start shows the keys that are written out, and says how many more there are", async () => {
  const { running } = start(large, []);
  await baseUrl(running);
  const text = running.stdout.text();
  expect(text.match(/^ {2}\S+ +SVC_\w+ /gm)?.map((line) => line.trim().split(" ")[0])).toEqual([
    "first",
    "second",
  ]);
  expect(text).toContain("\n  … and 1400 more: svc-sandbox keys many.yaml\n");
});

test("start shows the first few of a population that stands alone", async () => {
  const { running } = start(population("{ organizations: 3, keys_per_organization: 2 }"), []);
  await baseUrl(running);
  expect(running.stdout.text()).toMatch(/\n {2}organization-1-key-1 +SVC_test_/);
  expect(running.stdout.text()).toContain("\n  … and 1 more: svc-sandbox keys many.yaml\n");
});

test("start --json and --write-env have every key that is written out, and a thousand at most altogether", async () => {
  const { running, cwd } = start(large, ["--json", "--write-env", "keys.env"]);
  await baseUrl(running);
  const line = JSON.parse(running.stdout.text());
  expect([Object.keys(line.keys).length, line.keys_left_out]).toEqual([1000, 402]);
  expect(Object.keys(line.keys).slice(0, 3)).toEqual(["first", "second", "organization-1-key-1"]);
  const lines = readFileSync(join(cwd, "keys.env"), "utf8").trimEnd().split("\n");
  expect(lines.filter((one) => one.startsWith("SVC_KEY_"))).toHaveLength(1000);
  expect(lines.at(-1)).toBe("# 402 more keys: svc-sandbox keys many.yaml --format env");
});

test("of a small population nothing is left out, and nothing is said of it", async () => {
  const { running, cwd } = start(population("{ organizations: 3 }") + written, [
    "--json",
    "--write-env",
    "keys.env",
  ]);
  await baseUrl(running);
  const line = JSON.parse(running.stdout.text());
  expect(Object.keys(line.keys)).toHaveLength(5);
  expect(line).not.toHaveProperty("keys_left_out");
  expect(readFileSync(join(cwd, "keys.env"), "utf8")).not.toContain("#");
});

test("keys lists them all, in every format", async () => {
  const cwd = temporaryFolder({ "many.yaml": large });
  const keys = async (format: string) =>
    (await runCli(["keys", "many.yaml", "--format", format], { cwd })).stdout.trimEnd();
  expect(JSON.parse(await keys("json"))).toHaveLength(1402);
  expect((await keys("env")).split("\n")).toHaveLength(1403);
  expect((await keys("table")).split("\n")).toHaveLength(1403);
});
