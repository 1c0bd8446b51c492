import { readdirSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { commands } from "../../src/cli/commands.js";
import { runCli, serve } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.each([["-v"], ["--version"]])("%s prints the version", async (...argv) => {
  expect(await runCli(argv)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+(?:-[\w.]+)?\n$/),
  });
});

test("each variable of ours that no flag has is a warning, with what is meant; others' variables are none", async () => {
  const env = {
    SVC_SANDBOX_PROT: "1",
    SVC_SANDBOX_FORMAT: "xml",
    SVC_SANDBOX_RADIO: "x",
    SVC_SANDBOX_EMPTY: "",
    SVC_SANDBOX_TLS: "1",
    SVC_SANDBOX_RUN: "/tmp/x",
    SVC_BASE_ULR: "x",
  };
  const { code, stderr } = await runCli(["list"], { env });
  expect([code, stderr.split("\n")]).toEqual([
    0,
    [
      'Warning: SVC_SANDBOX_PROT has no effect. Did you mean "SVC_SANDBOX_PORT"?',
      expect.stringContaining("Warning: SVC_SANDBOX_FORMAT has no effect."),
      expect.stringContaining("Warning: SVC_SANDBOX_RADIO has no effect."),
      "",
    ],
  ]);
  // Its parent has warned.
  const inBackground = { ...env, SVC_IN_BACKGROUND: "1" };
  expect((await runCli(["list"], { env: inBackground })).stderr).toBe("");
});

describe("the value of a flag", () => {
  // `keys --format json` shows which seed was used, without serving anything.
  const firstSecret = async (argv: readonly string[], env = {}, files = {}) => {
    const { stdout, stderr } = await runCli(["keys", ...argv, "--json"], {
      env,
      cwd: temporaryFolder(files),
    });
    expect(stderr).toBe("");
    return JSON.parse(stdout)[0].secret as string;
  };
  const own = (seed: string) => ({
    "svc-sandbox.yaml": `version: 1\n${seed}organizations: { b: { name: B, type: bank, keys: { active: { environment: test } } } }\n`,
  });

  it("comes from the command line, then the environment, then the scenario, then the default", async () => {
    const seeds = await Promise.all(["1", "2", "3", "4"].map((seed) => firstSecret(["--seed", seed])));
    expect(new Set(seeds).size).toBe(4);
    const variable = { SVC_SANDBOX_SEED: "2" };
    expect(await firstSecret([], {}, own(""))).toBe(seeds[0]);
    expect(await firstSecret([], { SVC_SANDBOX_SEED: "" }, own(""))).toBe(seeds[0]);
    expect(await firstSecret([], {}, own("seed: 4\n"))).toBe(seeds[3]);
    expect(await firstSecret([], variable, own("seed: 4\n"))).toBe(seeds[1]);
    expect(await firstSecret(["--seed", "3"], variable, own("seed: 4\n"))).toBe(seeds[2]);
  });
});

describe("flags that cannot be used together", () => {
  it("are a usage error if two variables set them, which names both", async () => {
    const { code, stderr } = await runCli(["play", "active"], {
      env: { SVC_SANDBOX_STEP: "1", SVC_SANDBOX_JSON: "1" },
      keys: ["q"],
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/SVC_SANDBOX_STEP and SVC_SANDBOX_JSON/);
    expect(
      (await runCli(["play", "active"], { env: { SVC_SANDBOX_STEP: "0", SVC_SANDBOX_JSON: "1" } })).code,
    ).toBe(0);
  });

  it.each([
    ["play active --json", { SVC_SANDBOX_STEP: "1" }, /^\{/],
    ["play active --json", { SVC_SANDBOX_SPEED: "fast" }, /^\{/],
    ["play active --speed max", { SVC_SANDBOX_STEP: "1" }, /The end: /],
    ["verify active", { SVC_SANDBOX_QUIET: "1", SVC_SANDBOX_JSON: "1" }, /^\[/],
    ["verify active --verbose", { SVC_SANDBOX_QUIET: "1" }, /all passed/],
  ])("of %s come before the variables %j", async (line, env, output) => {
    const { code, stdout } = await runCli(line.split(" "), { env });
    expect([code, stdout]).toEqual([0, expect.stringMatching(output)]);
  });

  it("start --tls comes before SVC_SANDBOX_CERT, although only --tls declares that both exclude each other", async () => {
    const { stdout } = serve(["--tls", "--json"], { env: { SVC_SANDBOX_CERT: "none.pem" } });
    const [line] = await stdout.shows(/.*\n/);
    expect(JSON.parse(line).base_url).toMatch(/^https:/);
  });

  it("start --open comes before SVC_SANDBOX_NO_CONTROL: it opens a page that is there", async () => {
    const env = { SVC_SANDBOX_NO_CONTROL: "1", BROWSER: "none" };
    const { stdout } = serve(["--open", "--json"], { env });
    const [line] = await stdout.shows(/.*\n/);
    expect(JSON.parse(line).control_url).toMatch(/^http/);
  });
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

  it("promises a request log only of commands that have one", async () => {
    for (const name of Object.keys(commands)) {
      const { stdout } = await runCli(["help", name, "--all"]);
      const [quiet = "", verbose = ""] = ["quiet", "verbose"].map(
        (flag) => new RegExp(`^ +--${flag} [\\s\\S]*?(?=\\n(?: +-|\\n))`, "m").exec(stdout)?.[0],
      );
      expect(verbose).toMatch(/stack traces/);
      const hasLog = stdout.includes("  --log <format>");
      expect([name, / log\b/.test(quiet), / log\b/.test(verbose)]).toEqual([name, hasLog, hasLog]);
    }
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
  [["serve"], "Did you mean svc-sandbox start?"],
  [["lint", "mine.yaml"], "Did you mean svc-sandbox validate?"],
  [["start", "--hots", "x"], "Did you mean --host?"],
  [["start", "-w"], 'Unknown flag "-w".'],
  [["--json", "list"], "A command comes before its flags."],
  [["valdate"], 'Did you mean "validate"?'],
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
