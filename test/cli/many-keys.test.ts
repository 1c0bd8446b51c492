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

/** What `start` prints, and the lines that it writes with --write-env. */
async function started(file: string, ...argv: string[]) {
  const cwd = temporaryFolder({ "many.yaml": file });
  const running = serve(["start", "many.yaml", "--write-env", "keys.env", ...argv], { cwd });
  await baseUrl(running);
  const lines = readFileSync(join(cwd, "keys.env"), "utf8").trimEnd().split("\n");
  return { text: running.stdout.text(), lines };
}

test("start shows the first forty keys, those that are written out before the others, and how many more exist", async () => {
  const { text } = await started(large);
  const refs = text.match(/^ {2}\S+ +SVC_\w+ /gm)?.map((line) => line.trim().split(" ")[0]) ?? [];
  expect([...refs.slice(0, 3), ...refs.slice(40)]).toEqual([
    "first",
    "second",
    "organization-1-key-1",
    "unknown",
  ]);
  expect(text).toContain("\n  … and 1362 more: svc-sandbox keys many.yaml\n");
});

test("start --json and --write-env have every key that is written out, and a thousand at most altogether", async () => {
  const { text, lines } = await started(large, "--json");
  const { keys, keys_left_out } = JSON.parse(text);
  expect([Object.keys(keys).length, keys_left_out]).toEqual([1000, 402]);
  expect(Object.keys(keys).slice(0, 3)).toEqual(["first", "second", "organization-1-key-1"]);
  const variables = lines.filter((one) => /^SVC_KEY_(?!UNKNOWN=|MALFORMED=)/.test(one));
  expect(variables).toHaveLength(1000);

  const small = await started(population("{ organizations: 3 }") + written, "--json");
  expect(Object.keys(JSON.parse(small.text).keys)).toHaveLength(5);
  expect(small.text).not.toContain("keys_left_out");
});

test("keys lists them all, in every format", async () => {
  const cwd = temporaryFolder({ "many.yaml": large });
  const keys = async (format: string) =>
    (await runCli(["keys", "many.yaml", "--format", format], { cwd })).stdout.trimEnd();
  expect(JSON.parse(await keys("json"))).toHaveLength(1402);
  const sizes = { table: 1403, env: 1405, powershell: 1405 };
  for (const [format, size] of Object.entries(sizes)) {
    expect((await keys(format)).split("\n")).toHaveLength(size);
  }
});
