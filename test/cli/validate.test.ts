import { execFileSync } from "node:child_process";
import { existsSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { openScenario } from "../../src/node/files/scenario-files.js";
import { loadScenario } from "../../src/server/start-server.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scenario = (key: string, more = "") => `version: 1
clock: { now: 2026-03-02T09:00:00Z }
organizations:
  a-bank:
    type: bank
    keys:
      main: { environment: test${key} }
${more}`;
const story = "story: [{ request: { key: main }, expect: { status: 200 } }]\n";

test.each(["validate", "verify"])(
  "%s --json has the same members for a problem of any file",
  async (command) => {
    const cwd = temporaryFolder({ "bad.yaml": "version: 2\n" });
    for (const file of ["bad.yaml", "missing.yaml"]) {
      const [document] = JSON.parse((await runCli([command, file, "--json"], { cwd })).stdout);
      expect(document.problems).toEqual([expect.objectContaining({ field: expect.any(String), file })]);
      expect(document.problems[0]).not.toHaveProperty("path");
    }
  },
);

test.runIf(existsSync("/dev/zero"))("a scenario, and what it extends, must be a regular file", async () => {
  const cwd = temporaryFolder({ "my.yaml": "version: 1\nextends: /dev/zero\n", "folder/a": "" });
  for (const [file, exit] of [
    ["my.yaml", 1],
    ["/dev/zero", 2],
  ] as const) {
    const { code, stderr } = await runCli(["validate", file], { cwd });
    expect([code, stderr]).toEqual([exit, expect.stringContaining("it is not a regular file")]);
  }
});

test("a large file is refused, also one that a scenario extends", async () => {
  const cwd = temporaryFolder({ "my.yaml": "version: 1\nextends: ./large\n", large: "version: 1\n" });
  truncateSync(join(cwd, "large"), 2 * 2 ** 20);
  for (const file of ["my.yaml", "large"]) {
    const { code, stderr } = await runCli(["validate", file], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining("the scenario is larger than 1 MiB")]);
  }
});

test("a pinned secret without the sandbox's mark earns a warning, which shows no key and fails nothing", async () => {
  const secret = "SVC_test_4f9a8b7c6d5e4f3a2b1c";
  const pinned = (text: string) => scenario(`, secret: ${text}`);
  const cwd = temporaryFolder({ "real.yaml": pinned(secret), "ours.yaml": pinned("SVC_test_sbxmine") });
  const { code, stderr } = await runCli(["validate", "real.yaml", "ours.yaml"], { cwd });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^real\.yaml:7:\d+: [\s\S]*1 warning\n\n$/)]);
  expect(stderr).not.toContain("4f9a");
  expect((await runCli(["validate", "real.yaml", "--quiet"], { cwd })).stderr).toBe("");
  const json = JSON.parse((await runCli(["validate", "real.yaml", "ours.yaml", "--json"], { cwd })).stdout);
  expect(json).toEqual([
    {
      file: "real.yaml",
      ok: true,
      problems: [],
      warnings: [expect.objectContaining({ code: "secret_unmarked" })],
    },
    { file: "ours.yaml", ok: true, problems: [] },
  ]);
});

test("a name that the sandbox lacks is shown with its place, whatever reads the file", async () => {
  const cwd = temporaryFolder({
    "scope.yaml": `${scenario(", scopes: [x]")}endpoints: { a: { path: /a, scope: y } }\n`,
    "own.yaml": scenario(", scopes: [x]"),
    "path.yaml": scenario("", story.replace("status: 200", "outcome: 201.createConsnet")),
    "fine.yaml": `${scenario(", scopes: [x]")}endpoints: { a: { path: /a, scope: x } }
`,
  });
  for (const [command, code] of [
    ["validate", 1],
    ["keys", 2],
    ["verify", 2],
  ] as const) {
    const run = async (...argv: string[]) => {
      const { code: exit, stderr } = await runCli([command, ...argv], { cwd });
      return [exit, stderr.split("\n")[0]];
    };
    for (const name of ["scope", "own"]) {
      const shown = new RegExp(`^${name}\\.yaml:7:\\d+: .* scope "x"`);
      expect(await run(`${name}.yaml`)).toEqual([code, expect.stringMatching(shown)]);
    }
    expect(await run("path.yaml")).toEqual([
      code,
      expect.stringMatching(/^path\.yaml:8:\d+: .*createConsnet/),
    ]);
  }
  expect((await runCli(["validate", "fine.yaml"], { cwd })).code).toBe(0);
});

test("a scenario in stdin is read no further than to the limit", async () => {
  let piecesRead = 0;
  const pieces = function* () {
    for (; piecesRead < 1_000; piecesRead += 1) yield Buffer.alloc(64 * 1024, "#");
  };
  const stdin = Readable.from(pieces());
  const { code, stderr } = await runCli(["validate", "-"], { pipes: { stdin, stdout: new PassThrough() } });
  expect([code, stderr]).toEqual([1, expect.stringContaining("the scenario is larger than 1 MiB")]);
  expect(piecesRead).toBeLessThan(100);
});

test("the wait for a scenario in stdin ends with its signal", async () => {
  const stopping = new AbortController();
  await expect(loadScenario("-")).rejects.toMatchObject({ code: "scenario_not_found" });
  const loading = openScenario("-", { stdin: new PassThrough(), signal: stopping.signal });
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
  const says = /pipe\.yaml": it is not a regular file\./;
  expect([code, stderr]).toEqual([expected, expect.stringMatching(says)]);
});

test("the organizations and keys of a population count", async () => {
  const cwd = temporaryFolder({
    "my.yaml": "version: 1\npopulation: { organizations: 100, keys_per_organization: 10 }\n",
  });
  const { stdout } = await runCli(["validate", "my.yaml"], { cwd });
  expect(stdout).toBe("ok  my.yaml  100 organizations, 1000 keys\n");
});
