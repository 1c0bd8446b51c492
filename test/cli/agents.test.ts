import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSandbox } from "../../src/index.js";
import { coverage, ofFirst, ofOthers, promisedCount } from "../support/coverage.js";
import { pageOf, root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { client, clientFolder, missedIn, reportIn } from "./exec-client.js";

describe("AGENTS.md", () => {
  const page = pageOf("docs/agents.md");

  test("has at most 3 kB, and the help names it before the commands", async () => {
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(3_000);
    const { stdout } = await runCli(["--help"]);
    expect(stdout.slice(0, stdout.indexOf("Flags:"))).toContain("read AGENTS.md in the package");
  });

  test("names a key for each promised outcome, and the keys end there in this order", async () => {
    const rows = [...page.matchAll(/^\| (\d{3}\.\w+) \| ([\w-]+) \|/gm)].map(([, path, ref]) => [path, ref]);
    expect(rows.map(([path]) => path).sort()).toEqual(ofFirst.toSorted());
    const cwd = clientFolder();
    const words = client(...rows.map(([, ref = ""]) => ref));
    const { stderr } = await runCli(["exec", "--format", "json", "--fail-on", "warning", "--", ...words], {
      cwd,
    });
    expect(reportIn(stderr)).toMatchObject({ failures: [], coverage: coverage(rows.length) });
    expect(Object.keys(missedIn(reportIn(stderr)))).toEqual(ofOthers);
  });

  test("shows that the key rate-limited stays limited: a client that waits for the next day never ends", async () => {
    expect(/\| rate-limited \| (.*) \|/.exec(page)?.[1]).toBe(
      "stops at a second 429 or a longer wait: this key stays limited",
    );
    const sandbox = createSandbox();
    sandbox.clock.advance("2d");
    const headers = { "x-api-key": sandbox.secret("rate-limited") };
    await sandbox.fetch(new Request("https://api.example/v1/relying-party/me", { headers }));
    expect(sandbox.requests.list().at(-1)?.outcome).toBe("429.per_day");
  });
});

describe("exec --format json", () => {
  // On GitHub, too, it is all that is printed.
  const env = { GITHUB_ACTIONS: "true" };
  const exec = (argv: readonly string[], ...command: readonly string[]) =>
    runCli(["exec", "--format", "json", ...argv, "--", ...command], { cwd: clientFolder(), env });

  test("names each outcome that is not covered, its key, and how often a rejected key was sent again", async () => {
    const { stderr } = await exec([], ...client("active", "revoked", "revoked", "revoked", "none"));
    const report = reportIn(stderr);
    expect(report).toMatchObject({
      coverage: { percent: coverage(3).percent },
      resends: [{ key: "revoked", count: 2 }],
      advice: [{ id: "sent-again-after-rejection" }],
      failures: [],
    });
    expect(Object.keys(missedIn(report))).toHaveLength(promisedCount - 3);
    expect(missedIn(report)).toMatchObject({
      "401.unknown": "unknown",
      "403.insufficient_scope": "wrong-scope",
      "429.per_minute": "rate-limited-minute",
    });
  });

  test.each([
    ["--min-coverage 50", ["active"], 5, /below the required 50%/],
    ["--fail-on error", ["?active"], 5, /: key-in-query\.$/],
    ["--fail-on error", [], 4, /^No request reached the sandbox/],
  ])("%s with %j ends with %d and shows why", async (flags, words, expected, why) => {
    const { code, stderr } = await exec(flags.split(" "), ...client(...words));
    expect([code, reportIn(stderr).failures]).toEqual([expected, [expect.stringMatching(why)]]);
  });
});

describe("JSON", () => {
  test("is what an error is printed as where JSON was asked for, with its code and without a key (R46)", async () => {
    const key = createSandbox().secret("active");
    for (const argv of [
      ["keys", key, "--json"],
      ["exec", key, "--format", "json", "--", "true"],
    ]) {
      const { code, stdout, stderr } = await runCli(argv);
      expect([code, stdout, JSON.parse(stderr)]).toEqual([
        2,
        "",
        { error: { code: "scenario_not_found", message: expect.any(String) } },
      ]);
      expect(stderr).not.toContain(key);
    }
    const { code, stderr } = await runCli(["exec", "--format", "json", "--", "no-such-command"]);
    expect([code, JSON.parse(stderr).error.code]).toEqual([127, "command_unusable"]);
  });

  test.runIf(existsSync("/dev/full"))("of certify is also what a failed --report is printed as", async () => {
    const cwd = temporaryFolder();
    symlinkSync("/dev/full", join(cwd, "full.json"));
    const argv = ["certify", "--format", "json", "--report", "full.json", "--", "true"];
    const { stderr } = await runCli(argv, { cwd, env: { PATH: process.env.PATH ?? "" } });
    const lines = stderr.split("\n").filter((line) => line.includes("full.json"));
    expect(lines.map((line) => JSON.parse(line).error.code)).toEqual(["usage"]);
  });
});

test("--report - writes the report to stdout, as text unless --format names another form", async () => {
  const cwd = clientFolder();
  const report = async (...argv: string[]) =>
    (await runCli(["exec", "--report", "-", ...argv, "--", ...client("active")], { cwd })).stdout;
  expect(await report()).toMatch(/^1 request to key-states/);
  expect(reportIn(await report("--format", "json"))).toMatchObject({ coverage: coverage(1) });
});

function asExecutable() {
  const builtin = process.getBuiltinModule;
  vi.spyOn(process, "getBuiltinModule").mockImplementation(((name: string) =>
    name === "node:sea" ? { isSea: () => true } : builtin(name)) as typeof builtin);
  onTestFinished(() => void vi.restoreAllMocks());
}

describe("init --client", () => {
  test("the first tests cover every promised outcome, and exec notes only which keys have their own outcomes", async () => {
    const file = join(root, "examples/exec/whoami.node.mjs");
    const command = [process.execPath, "--test", file];
    const { code, stderr } = await runCli(["exec", "key-states", "--format", "json", "--", ...command]);
    expect(code).toBe(0);
    expect(reportIn(stderr)).toMatchObject({
      coverage: coverage(promisedCount),
      resends: [],
      advice: [{ id: "retiring-key-in-use" }, { id: "legacy-key-in-use" }],
    });
  });

  test.each([
    ["vitest", "exec/whoami.test.js", "test/whoami.test.js", "-- npx vitest run"],
    ["jest", "exec/whoami.jest.cjs", "test/whoami.test.cjs", "-- npx jest"],
    ["node", "exec/whoami.node.mjs", "test/whoami.test.mjs", "-- node --test"],
    ["pytest", "pytest/test_whoami.py", "tests/test_whoami.py", "python3 -m pytest --min-coverage 80"],
    [
      "junit",
      "junit5/WhoamiTest.java",
      "src/test/java/WhoamiTest.java",
      "mvn test -Dsvc-sandbox.min-coverage=80",
    ],
    ["go", "go/whoami_test.go", "whoami/whoami_test.go", "SVC_SANDBOX_MIN_COVERAGE=80 go test ./whoami"],
  ])(
    "%s writes the example's test and nothing else, and replaces no file",
    async (kind, example, file, run) => {
      const cwd = temporaryFolder({ "package.json": "{}" });
      const { code, stderr } = await runCli(["init", "--client", kind], { cwd });
      expect([code, stderr]).toEqual([0, expect.stringContaining(`Wrote ${file}.`)]);
      const text = readFileSync(join(cwd, file), "utf8");
      expect(text).toBe(pageOf(`examples/${example}`));
      // Its head shows what to install, and how to run it.
      expect(text.slice(0, 600)).toMatch(/Install: /);
      expect(text.slice(0, 600)).toContain(run);
      expect(readdirSync(cwd).sort()).toEqual([file.split("/")[0], "package.json"].sort());
      expect(readFileSync(join(cwd, "package.json"), "utf8")).toBe("{}");
      expect(await runCli(["init", "--client", kind], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("already exists"),
      });
    },
  );
});

test("the single executable refers to no file of the package, but to pages of a running sandbox", async () => {
  asExecutable();
  const wrong = await runCli(["init", "--client", "curl"]);
  expect(wrong.stderr).toContain("http://127.0.0.1:4747/__sandbox/docs/languages of a running sandbox");
  const help = await runCli(["--help"]);
  expect(help.stdout.replace(/\s+/g, " ")).toContain("/__sandbox/docs/agents of a running sandbox");
  const texts = wrong.stderr + help.stdout;
  expect(texts).not.toMatch(/in the package|node_modules/);
});
