import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { loadScenario } from "../../src/node/files/load-scenario.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("the wait for a scenario in stdin ends with its signal", async () => {
  const stopping = new AbortController();
  await expect(loadScenario("-")).rejects.toMatchObject({ code: "scenario_not_found" });
  const loading = loadScenario("-", { stdin: new PassThrough(), signal: stopping.signal });
  stopping.abort();
  await expect(loading).rejects.toMatchObject({ code: "file_unreadable" });
});

test.runIf(process.platform !== "win32").each([
  ["my.yaml", 1],
  ["pipe.yaml", 2],
])("a scenario, and a file that it extends, must not be a named pipe: %s", async (file, expected) => {
  const cwd = temporaryFolder({ "my.yaml": "version: 1\nextends: ./pipe.yaml\n" });
  execFileSync("mkfifo", [join(cwd, "pipe.yaml")]);
  const { stderr, code } = await runCli(["validate", file], { cwd });
  const says = /pipe\.yaml": it is a pipe; use - for a scenario from stdin\./;
  expect([code, stderr]).toEqual([expected, expect.stringMatching(says)]);
});
