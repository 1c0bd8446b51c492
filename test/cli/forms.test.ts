import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pageOf } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const files = { "mine.yaml": "version: 1\n" };

test.each([
  ["init --client node mine.yaml", /mine\.yaml/],
  ["explain last --seed 5", /--seed/],
  ["explain last my.yaml", /my\.yaml/],
  ["explain last --endpoint nothing", /--endpoint/],
  ["fixtures organizations --now 2026-03-02T09:00:00Z", /--now/],
  ["keys --format env --endpoint nothing", /--endpoint/],
  ["start --no-control --detach", /--detach/],
  ["exec --no-control --control-token token-of-a-test -- true", /--control-token/],
  ["play active --step --speed 2", /--speed/],
  ["play active --json --speed 2", /--speed/],
  ["validate active --json --quiet", /--quiet/],
  ["list key-states", /"key-states"/],
  ["schema scenario certificate", /"certificate"/],
])("%s is a usage error that names what does nothing there", async (line, names) => {
  const { code, stdout, stderr } = await runCli(line.split(" "), { cwd: temporaryFolder(files) });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(names);
});

test("init --client writes the file that the call names, and leaves the usual one", async () => {
  const cwd = temporaryFolder({ ...files, "test/whoami.test.mjs": "// edited\n" });
  const { code, stderr } = await runCli(["init", "--client", "node", "other.test.mjs", "--force"], { cwd });
  expect([code, stderr]).toEqual([0, expect.stringContaining("Wrote other.test.mjs")]);
  expect(readFileSync(join(cwd, "test/whoami.test.mjs"), "utf8")).toBe("// edited\n");
  expect(readFileSync(join(cwd, "other.test.mjs"), "utf8")).toBe(pageOf("examples/exec/whoami.node.mjs"));
});

const valid =
  "version: 1\norganizations: { b: { name: B, type: bank, keys: { k: { environment: test } } } }\n";

test("validate reads a file that is named twice once, also stdin", async () => {
  const { code, stdout } = await runCli(["validate", "-", "-"], { input: valid });
  expect([code, stdout]).toEqual([0, "ok  -  1 organization, 1 key\n"]);
});
