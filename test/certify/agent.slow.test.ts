import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missedIn, reportIn } from "../cli/exec-client.js";
import { blockWith, pageOf } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { startBin } from "../support/running-command.js";
import { userFolder } from "../support/temporary-folder.js";

test("init --client vitest covers each promised path with tests that pass, and no advice but notes", async () => {
  const cwd = userFolder({ "package.json": '{ "type": "module", "devDependencies": { "vitest": "*" } }' });
  await runCli(["init", "--client", "vitest"], { cwd });
  const { code, stderr } = await startBin(
    [
      "exec",
      "--format",
      "json",
      "--fail-on",
      "warning",
      "--",
      "node",
      "node_modules/vitest/vitest.mjs",
      "run",
    ],
    { cwd },
  ).ended;
  expect([code, reportIn(stderr)]).toMatchObject([0, { failures: [], coverage: { percent: 100 } }]);
});

test("an agent that reads the help, AGENTS.md and JSON covers each path and is certified", async () => {
  const cwd = userFolder();
  const texts = [(await runCli(["--help"])).stdout, pageOf("AGENTS.md")];
  expect(texts.join("").length).toBeLessThan(7_000);
  const cases = new Map([["ACTIVE", 200]]);
  const step = async (...argv: string[]) => {
    const text = blockWith("AGENTS.md", "js", "// me.test.mjs")
      .replace(/\[\s*\["ACTIVE"[^)]*\]/, () => JSON.stringify([...cases]))
      .replace('{ "x-api-key"', '!env["SVC_KEY_".concat(ref)] ? {} : { "x-api-key"');
    writeFileSync(join(cwd, "me.test.mjs"), text);
    const command = ["node", "--test", "--test-reporter=dot"];
    return await startBin([...argv, "--", ...command], { cwd }).ended;
  };
  const first = await step("exec", "--format", "json", "--min-coverage", "100");
  expect(first.code).toBe(5);
  for (const [path, ref] of Object.entries(missedIn(reportIn(first.stderr))))
    cases.set(ref.toUpperCase().replaceAll("-", "_"), Number(path.slice(0, 3)));
  expect((await step("exec", "--min-coverage", "100")).code).toBe(0);
  expect((await step("certify", "--seeds", "1")).code).toBe(0);
});
