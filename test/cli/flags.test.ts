import { readdirSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.each([["-v"], ["--version"]])("%s prints the version", async (...argv) => {
  expect(await runCli(argv)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+(?:-[\w.]+)?\n$/),
  });
});

test("a flag comes before its variable, the variable before the scenario, and only start reads it", async () => {
  const scenario =
    "version: 1\nseed: 4\norganizations: { b: { name: B, type: bank, keys: { active: { environment: test } } } }\n";
  const cwd = temporaryFolder({ "svc-sandbox.yaml": scenario });
  const seedOf = async (argv: readonly string[], SVC_SANDBOX_SEED: string) => {
    const [line] = await serve([...argv, "--json"], { cwd, env: { SVC_SANDBOX_SEED } }).stdout.shows(/.*\n/);
    return JSON.parse(line).seed;
  };
  expect(await seedOf(["--seed", "3"], "2")).toBe(3);
  expect(await seedOf([], "2")).toBe(2);
  expect(await seedOf([], "")).toBe(4);
  const keys = await runCli(["keys"], { cwd });
  expect(await runCli(["keys"], { cwd, env: { SVC_SANDBOX_SEED: "2" } })).toEqual(keys);
});

test("no variable of start stops another command", async () => {
  const env = { SVC_SANDBOX_SEED: "random", SVC_SANDBOX_REPORT: "r.md", SVC_SANDBOX_TIMEOUT: "never" };
  const options = { env, cwd: temporaryFolder() };
  expect((await runCli(["certify", "--", "no-such-program"], options)).code).toBe(127);
  expect((await runCli(["fixtures", "farmers", "--count", "1"], options)).code).toBe(0);
});

test("--now is at the latest the last time that a clock shows", async () => {
  const { code, stderr } = await runCli(["keys", "active", "--now", "9999-12-25T00:00:00Z"]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/--now.*9999-12-24T23:59:59\.999Z/)]);
});

describe("help", () => {
  it("of start has all flags, in groups, and --all changes nothing", async () => {
    const { stdout } = await runCli(["start", "--help"]);
    expect(stdout).toMatch(/\nThe server:\n {2}-H, --host[\s\S]*\nThe sandbox:\n {2}--seed/);
    expect((await runCli(["help", "start", "--all"])).stdout).toBe(stdout);
  });

  it.each([[["help", "keys"]], [["--port", "0", "--help"]]])(
    "prints help with examples for %j",
    async (argv) => {
      const { code, stdout, stderr } = await runCli(argv);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^Usage: svc-sandbox [\s\S]*\nExamples:\n(?: {2}# .*\n)? {2}\S*svc-sandbox/);
    },
  );

  it("of a scenario is the help of start", async () => {
    expect(await runCli(["help", "key-states"])).toEqual(await runCli(["help", "start"]));
  });
});

test.each([
  [["serve"], "Did you mean start?"],
  [["lint", "mine.yaml"], "Did you mean validate?"],
  [["start", "--hots", "x"], "Did you mean --host?"],
  [["start", "-w"], 'Unknown flag "-w".'],
  [["--json", "list"], "A command comes before its flags."],
  [["valdate"], "Did you mean validate?"],
])("%j says what is meant", async (argv, hint) => {
  const cwd = temporaryFolder();
  const { code, stderr } = await runCli(argv, { cwd });
  const text = argv.includes("--json") ? JSON.parse(stderr).error.message : stderr;
  expect([code, text.replace(/\s+/g, " ")]).toEqual([2, expect.stringContaining(hint)]);
  expect(readdirSync(cwd)).toEqual([]);
});

test.each([
  [["start", "--delay", "3"]],
  [["start", "--set", "a=b"]],
  [["start", "--cors"]],
  [["start", "--test"]],
  [["help", "me"]],
  [["post"]],
])("%j is near to nothing, so no guess is shown", async (argv) => {
  const cwd = temporaryFolder({ "my.yaml": "version: 1\norganizations: {}\n" });
  const { code, stderr } = await runCli(argv, { cwd });
  expect([code, stderr]).toEqual([2, expect.not.stringContaining("Did you mean")]);
});
