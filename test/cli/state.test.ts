import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { version } from "../../src/node/package-files.js";
import { stateFormat } from "../../src/sandbox/saved-sandbox.js";
import { control } from "../support/call-control.js";
import { baseUrl, type Running, runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const sandbox = (...keys: string[]) =>
  `version: 1\norganizations: { a-bank: { type: bank, keys: { ${keys.map((ref) => `${ref}: { environment: test }`).join(", ")} } } }\n`;

const start = (cwd: string, ...argv: string[]): Running =>
  serve(["a.yaml", "--state", "state.json", ...argv], { cwd });
const read = (cwd: string) => JSON.parse(readFileSync(join(cwd, "state.json"), "utf8"));

test("--state creates the file, and continues from it, with a note; it wins over the flags of a new sandbox", async () => {
  const cwd = temporaryFolder({ "a.yaml": sandbox("one") });
  const first = start(cwd, "--seed", "3", "--frozen");
  const url = await baseUrl(first);
  expect(read(cwd)).toMatchObject({ svc_sandbox_state: stateFormat, version, sandbox: { name: "a.yaml" } });
  await control(`${url}/__sandbox`, "POST /keys/one/revoke", {});
  expect((await first.stop()).stderr).not.toContain("Continuing");

  const second = start(cwd, "--seed", "4", "--now", "2026-01-01T00:00:00Z");
  await baseUrl(second);
  expect(second.stderr.text()).toMatch(
    /^Continuing from "state\.json", saved \d{4}-\S+Z\. Remove it to start again\.\n$/,
  );
  expect(second.stdout.text()).toMatch(
    /seed 3\n[\s\S]*Clock .*, frozen\n[\s\S]*\n {2}one +SVC_test_\w+ +401 unauthorized +401\.revoked\n/,
  );
});

test("--state follows a scenario that changes under --watch", async () => {
  const cwd = temporaryFolder({ "a.yaml": sandbox("one") });
  const running = start(cwd, "--watch");
  await baseUrl(running);
  writeFileSync(join(cwd, "a.yaml"), sandbox("one", "two"));
  await running.stderr.shows(/Loaded a\.yaml again/);
  await expect
    .poll(() => read(cwd).sandbox.keys.map(({ ref }: { readonly ref: string }) => ref))
    .toEqual(["one", "two"]);
  await running.stop();
  const after = start(cwd, "--watch");
  await baseUrl(after);
  expect(after.stdout.text()).toContain("\n  two ");
});

test("a stop that cannot save the counts shows why, and exits with 1", async () => {
  const cwd = temporaryFolder({ "a.yaml": sandbox("one"), "volume/.keep": "" });
  const running = serve(["a.yaml", "--state", "volume/state.json"], { cwd });
  const url = await baseUrl(running);
  rmSync(join(cwd, "volume"), { recursive: true });
  await fetch(`${url}/v1/relying-party/me`);
  const { code, stderr } = await running.stop();
  expect([code, stderr]).toEqual([1, expect.stringContaining("The file keeps its last saved state.")]);
});

test("a new state that cannot be written is one message, and exits with 2", async () => {
  const cwd = temporaryFolder({ "a.yaml": sandbox("one"), "state.json.svc-sandbox-draft/.keep": "" });
  const { code, stderr } = await runCli(["start", "a.yaml", "--state", "state.json"], { cwd });
  const lines = stderr.trimEnd().split("\n");
  expect([code, lines]).toEqual([2, [expect.stringContaining('Failed to write the state to "state.json"')]]);
  expect(stderr).not.toContain("last saved state");
});
