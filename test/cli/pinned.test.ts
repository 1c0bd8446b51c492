import { expect, test } from "vitest";
import { createSandbox, parseScenario } from "../../src/index.js";
import { runCli, startCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = (assumptions: string) => `version: 1
assumptions: ${assumptions}
organizations: { a-bank: { type: bank, keys: { main: { environment: test } } } }
`;

test.each([
  [
    "typical",
    "{ retry_after: none, error_details: true, www_authenticate: false }",
    ["retry_after", "error_details", "www_authenticate"],
  ],
  [
    "varied",
    "{ retry_after: none, rate_limit_code: rate_limited, me_scope: attestations:read }",
    ["retry_after", "rate_limit_code", "me_scope"],
  ],
  [
    "minimal",
    "{ profile: typical, retry_after: seconds, error_details: false }",
    ["retry_after", "error_details"],
  ],
] as const)(
  "the report names what a scenario sets apart from the profile %s",
  (profile, assumptions, pinned) => {
    const sandbox = createSandbox({ scenario: parseScenario(scenario(assumptions)), profile });
    expect(sandbox.report()).toMatchObject({ profile, pinned });
  },
);

test("start, exec and the report name what a given --profile does not change", async () => {
  const cwd = temporaryFolder({
    "pinned.yaml": scenario("{ retry_after: none }"),
    "free.yaml": scenario("{}"),
  });
  const says = /^(?:Note: )?retry_after is set by pinned\.yaml, not by --profile typical\.$/m;
  const exec = (file: string, ...flags: string[]) =>
    runCli(["exec", file, ...flags, "--", process.execPath, "-e", ""], { cwd });
  const { stderr } = await exec("pinned.yaml", "--profile", "typical");
  expect(stderr).toMatch(says);
  expect(stderr).toMatch(/ to pinned\.yaml \(seed 1, profile typical with its own retry_after\)/);
  expect((await exec("pinned.yaml")).stderr).not.toMatch(/set by/);
  expect((await exec("free.yaml", "--profile", "typical")).stderr).not.toMatch(/set by|its own/);

  const running = startCli(["start", "pinned.yaml", "--port", "0", "--profile", "typical"], { cwd });
  await running.stderr.shows(says);
});
