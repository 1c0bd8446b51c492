import { describe, expect, it, test } from "vitest";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.each<[argv: readonly string[], says: RegExp, env?: Record<string, string>]>([
  [["--port", "abc"], /^Invalid --port: "abc"\. .*0 to 65535; 0 uses any free port\./],
  [["--now", "2026-03-02T09:00:00"], /^Invalid --now: .* a time with its zone/],
  [["--log", "jsno"], /^Invalid --log: "jsno"\. Use pretty, json or off\./],
  [["--host", ""], /^Invalid --host: ""\. Use an address/],
  [["--instance-ttl", "0s"], /^Invalid --instance-ttl: "0s"\./],
  [["--write-env", ""], /^Invalid --write-env: ""\. Use the name of a file\./],
  [["--prot", "0"], /Unknown flag --prot\. Did you mean --port\?\s.*start --help/],
  [["certify", "npm", "test"], /^certify needs -- before your command: svc-sandbox certify -- npm test\n/],
  [["exec", "pytest", "tests"], /^exec needs -- before your command: svc-sandbox exec -- pytest tests\n/],
  [
    ["exec", "--report", "out/a.md", "--", "true"],
    /^--report: there is no folder "out" for "out\/a\.md"\. Create it first\.$/m,
  ],
  [
    ["certify", "--badge", "client.png", "--", "true"],
    /^Invalid --badge: "client\.png"\. Use the name of an \.svg file\./,
  ],
  [["farmers", "--count", "-1"], /^"farmers" is .*Did you mean svc-sandbox fixtures farmers\?\n/],
  [["start", "--port"], /-p, --port <number> needs a value\.\s.*start --help/],
  [["keys", "--json", "--format", "env"], /'--json' cannot be used with option '--format <format>'\. Leave/],
  [["explain"], /Missing argument <key>\.\n.*explain --help/],
  [["list", "more"], /^Unexpected argument "more": list accepts no words\.\n.*list --help/],
  [["help", "explian"], /Did you mean "explain"\?/],
  [[], /^Invalid SVC_SANDBOX_PORT: "http"\./, { SVC_SANDBOX_PORT: "http", PORT: "0" }],
  [[], /^Invalid SVC_SANDBOX_FROZEN: "maybe"\. Use 1 or 0\./, { SVC_SANDBOX_FROZEN: "maybe" }],
  // A control token that has a wrong character is not repeated.
  [["--control-token", "nearly right!"], /^--control-token is not a valid token\. (?!.*nearly right)/],
])("%j ends with 2 and shows what to do in one or two lines", async (argv, says, env = {}) => {
  const { code, stdout, stderr } = await runCli(argv, { env, cwd: temporaryFolder() });
  expect(stderr).toMatch(says);
  expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
  expect([code, stdout]).toEqual([2, ""]);
});

test.each([["-v"], ["version"]])("%s %s prints the version", async (...argv) => {
  expect(await runCli(argv)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/),
  });
});

test("a misspelt variable earns a warning that names the closest; other programs' variables do not", async () => {
  const env = { SVC_SANDBOX_PROT: "1", SVC_SANDBOX_TLS: "1", SVC_SANDBOX_URL: "http://x", SVC_BASE_ULR: "x" };
  const { code, stderr } = await runCli(["list"], { env });
  expect([code, stderr]).toEqual([
    0,
    "Warning: SVC_SANDBOX_PROT has no effect. Did you mean SVC_SANDBOX_PORT?\n",
  ]);
});

test.each([
  ["nokey", 'Did you mean "none"?'],
  ["nothing-like-it", "`svc-sandbox keys key-states`, or use none, malformed or unknown."],
])("explain %s makes a suggestion", async (word, suggestion) => {
  const { code, stderr } = await runCli(["explain", word], { cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([2, expect.stringContaining(suggestion)]);
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

describe("help", () => {
  it.each(["start", "exec", "certify"])("of %s has about ten flags, and all with --all", async (name) => {
    const flagsIn = async (...argv: string[]) => {
      const { stdout } = await runCli(argv);
      return { stdout, flags: stdout.match(/^ {2}(?:-\w, )?--[a-z-]+/gm)?.map((one) => one.trim()) ?? [] };
    };
    const { stdout, flags } = await flagsIn(name, "--help");
    const all = await flagsIn("help", name, "--all");
    expect(flags.length).toBeGreaterThan(9);
    expect(flags.length).toBeLessThan(14);
    expect(stdout).toContain(
      `\n${all.flags.length - flags.length} more flags: svc-sandbox ${name} --help --all\n`,
    );
    expect(all.flags).toEqual(expect.arrayContaining(flags));
    expect(await flagsIn(name, "--all", "-h")).toEqual(all);
  });

  it.each([
    [["help", "keys"]],
    [["--port", "0", "--help"]],
  ])("prints help with examples for %j", async (argv) => {
    const { code, stdout, stderr } = await runCli(argv);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: svc-sandbox [\s\S]*\nExamples:\n(?: {2}# .*\n)? {2}\S*svc-sandbox/);
  });
});
