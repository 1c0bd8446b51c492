import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { baseUrl, runCli, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// An organization has at most five active keys. Before the clock has started, nobody knows whether a key that expires is active.
const refs = ["a", "b", "c", "d", "e", "f"];
const organizations = (count: number) => `organizations:
  bank:
    name: Bank
    type: bank
    keys:
${refs
  .slice(0, count)
  .map((ref) => `      ${ref}: { environment: test, expires: 2099-01-01T00:00:00Z }\n`)
  .join("")}`;
const six = `version: 1\n${organizations(6)}`;

it.each([
  ["start", ["start", "six.yaml", "--port", "0"]],
  ["exec", ["exec", "six.yaml", "--", "node", "-e", "0"]],
  ["certify", ["certify", "six.yaml", "--", "node", "-e", "0"]],
  ["keys", ["keys", "six.yaml"]],
  ["play", ["play", "six.yaml"]],
  ["verify", ["verify", "six.yaml"]],
])("%s shows the place of a problem that only the start has", async (_, argv) => {
  const cwd = temporaryFolder({
    "six.yaml": `${six}story:\n  - say: Hello\n`,
  });
  const { code, stderr } = await runCli(argv, { cwd });
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(/^six\.yaml:12:\d+: /m)]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/\n {2} +f: \{ environment: test, .*\n +\^\n/);
});

it("shows the place in the file that the scenario extends", async () => {
  const cwd = temporaryFolder({ "six.yaml": six, "my.yaml": "version: 1\nextends: ./six.yaml\nseed: 3\n" });
  const { stderr } = await runCli(["start", "my.yaml", "--port", "0"], { cwd });
  expect(stderr).toMatch(/^six\.yaml:12:\d+: /m);
});

it("shows the place after a reload of --watch, and to who sends a scenario", async () => {
  const cwd = temporaryFolder({ "my.yaml": `version: 1\n${organizations(5)}` });
  const running = startCli(["my.yaml", "--watch", "--port", "0"], { cwd });
  const url = await baseUrl(running);
  writeFileSync(join(cwd, "my.yaml"), six);
  await running.stderr.shows(/my\.yaml:12:\d+: [\s\S]*continues\.\n/);

  const put = { method: "PUT", headers: { "content-type": "application/yaml" }, body: six };
  const response = await fetch(`${url}/__sandbox/scenario`, put);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect([response.status, error.code]).toEqual([422, "validation_failed"]);
  expect(error.message).toMatch(/^request body:12:7: /);
});
