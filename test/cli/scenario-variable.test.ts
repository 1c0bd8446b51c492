import { describe, expect, it } from "vitest";
import { runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const own =
  "version: 1\norganizations: { b: { name: B, type: bank, keys: { mine: { environment: test } } } }\n";

/** The line of JSON of a start in a folder with a scenario of its own. */
async function started(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const cwd = temporaryFolder({ "svc-sandbox.yaml": own, "other.yaml": own });
  const running = serve([...argv, "--json"], { cwd, env });
  const [line] = await running.stdout.shows(/.*\n/);
  return { scenario: JSON.parse(line).scenario, notes: running.stderr.text() };
}

describe("SVC_SANDBOX_SCENARIO", () => {
  it.each([
    [[], "revoked", "revoked"],
    [["start"], "bad-day", "bad-day"],
    [["start"], "./other.yaml", "./other.yaml"],
    [[], "", "svc-sandbox.yaml"],
  ])("names the scenario of %j: %s", async (argv, value, scenario) => {
    expect(await started(argv, { SVC_SANDBOX_SCENARIO: value })).toEqual({ scenario, notes: "" });
  });

  it("is less than the command line's scenario", async () => {
    const env = { SVC_SANDBOX_SCENARIO: "revoked" };
    expect(await started(["active"], env)).toEqual({ scenario: "active", notes: "" });
  });

  it("is not for other commands", async () => {
    const { code, stdout, stderr } = await runCli(["keys", "--json"], {
      cwd: temporaryFolder({ "svc-sandbox.yaml": own }),
      env: { SVC_SANDBOX_SCENARIO: "revoked" },
    });
    expect([code, stderr, JSON.parse(stdout)[0].ref]).toEqual([0, "", "mine"]);
  });
});
