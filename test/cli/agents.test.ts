import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import project from "../../package.json" with { type: "json" };
import { createSandbox } from "../../src/index.js";
import { coverage, ofFirst, ofOthers, promisedCount } from "../support/coverage.js";
import { pageOf, root } from "../support/pages.js";
import { runCli } from "../support/run-cli.js";
import { temporaryFolder, userFolder } from "../support/temporary-folder.js";
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
  test("writes nothing if package.json is broken, so that it can run again", async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, "package.json"), '{ "vitest": "4.1.12"');
    expect((await runCli(["init", "--client", "vitest"], { cwd })).code).toBe(2);
    expect(readdirSync(cwd)).toEqual(["package.json"]);
  });

  test("needs a dependency on the package and the runner, not only their names anywhere in package.json", async () => {
    const project = { name: "svc-sandbox", jest: {}, devDependencies: {} };
    const cwd = temporaryFolder({ "package.json": JSON.stringify(project) });
    const { code, stderr } = await runCli(["init", "--client", "jest"], { cwd });
    expect([code, readdirSync(cwd)]).toEqual([2, ["package.json"]]);
    expect(stderr).toContain("the tests need svc-sandbox and jest, which package.json does not have");
  });

  test.each([
    ["node", "\t", "node --test\n"],
    ["vitest", "    ", "vitest run\n"],
  ])("%s keeps another script test:sandbox, and shows its own command", async (kind, indent, command) => {
    const devDependencies = { "svc-sandbox": "1.0.0", vitest: "4.1.12" };
    const before = JSON.stringify({ scripts: { "test:sandbox": "mine" }, devDependencies }, null, indent);
    const cwd = temporaryFolder({ "package.json": before });
    const { code, stderr } = await runCli(["init", "--client", kind], { cwd });
    expect(code).toBe(0);
    expect(stderr).not.toContain("and the script");
    expect(stderr).toContain(`Run it with: svc-sandbox exec key-states --fail-on warning -- ${command}`);
    expect(readFileSync(join(cwd, "package.json"), "utf8")).toBe(before);
  });

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

  test.each(["\t", "    "])("vitest keeps the indentation %j of package.json", async (indent) => {
    const project = { name: "mine", devDependencies: { "svc-sandbox": "1.0.0", vitest: "4.1.12" } };
    const cwd = temporaryFolder({ "package.json": JSON.stringify(project, null, indent) });
    await runCli(["init", "--client", "vitest"], { cwd });
    expect(readFileSync(join(cwd, "package.json"), "utf8")).toContain(`\n${indent}"name": "mine",\n`);
  });

  const tarball = `svc-sandbox-${project.version}.tgz`;
  const module = "github.com/svc-sandbox/svc-sandbox/packaging/go";
  const hasAll = {
    "package.json":
      '{ "name": "mine", "scripts": { "test": "mine" }, "devDependencies": { "jest": "30.5.2", "svc-sandbox": "1.0.0", "vitest": "4.1.12" } }',
    "pom.xml": "<artifactId>svc-sandbox-junit5</artifactId>",
    "go.mod": `module bank.example/mine\nrequire ${module} v1.0.0-next.1\n`,
  };
  /** A Python that has the wheel or not. */
  function withPython(files: Readonly<Record<string, string>>, code: 0 | 1) {
    const cwd = temporaryFolder({ ...files, "bin/python3": `#!/bin/sh\nexit ${code}\n` });
    chmodSync(join(cwd, "bin/python3"), 0o755);
    return { cwd, env: { PATH: join(cwd, "bin") } };
  }

  test.each([
    ["vitest", "exec/whoami.test.js", "test/whoami.test.js", "npm run test:sandbox"],
    ["jest", "exec/whoami.jest.cjs", "test/whoami.test.cjs", "npm run test:sandbox"],
    ["node", "exec/whoami.node.mjs", "test/whoami.test.mjs", "npm run test:sandbox"],
    ["pytest", "pytest/test_whoami.py", "tests/test_whoami.py", "python3 -m pytest --min-coverage 80"],
    [
      "junit",
      "junit5/WhoamiTest.java",
      "src/test/java/WhoamiTest.java",
      "mvn test -Dsvc-sandbox.min-coverage=80",
    ],
    ["go", "go/whoami_test.go", "whoami/whoami_test.go", "SVC_SANDBOX_MIN_COVERAGE=80 go test ./whoami"],
  ])(
    "%s writes the example's test and nothing else that is new, and replaces no file",
    async (kind, example, file, run) => {
      const options = withPython(hasAll, 0);
      const { cwd } = options;
      const text = (name: string) => readFileSync(join(cwd, name), "utf8");
      expect((await runCli(["init", "--client", kind], options)).stderr).toContain(`Run it with: ${run}\n`);
      expect(text(file)).toBe(pageOf(`examples/${example}`));
      const isOfNode = run === "npm run test:sandbox";
      expect(readdirSync(cwd).sort()).toEqual(["bin", file.split("/")[0], ...Object.keys(hasAll)].sort());
      const project = JSON.parse(text("package.json"));
      expect(project).toMatchObject({ name: "mine", scripts: { test: "mine" } });
      expect(project.scripts["test:sandbox"]).toEqual(
        isOfNode ? expect.stringContaining("exec key-states --fail-on warning -- ") : undefined,
      );
      expect(await runCli(["init", "--client", kind], options)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("already exists"),
      });
    },
  );

  test("go runs the tests of this folder if its file is here", async () => {
    const options = withPython(hasAll, 0);
    const { stderr } = await runCli(["init", "--client", "go", "whoami_test.go"], options);
    expect(stderr).toContain("Run it with: SVC_SANDBOX_MIN_COVERAGE=80 go test .\n");
  });

  test.each([
    ["vitest", { vitest: "4.1.12" }, "svc-sandbox", [`./${tarball}`]],
    ["jest", { jest: "30.5.2" }, "svc-sandbox", [`./${tarball}`]],
    ["node", {}, "svc-sandbox", [`./${tarball}`]],
    ["vitest", { "svc-sandbox": "1.0.0" }, "vitest", ["vitest"]],
    ["jest", {}, "svc-sandbox and jest", [`./${tarball}`, "jest"]],
  ])(
    "%s with %j in package.json writes nothing and shows how to install %s, also where a folder has it",
    async (kind, devDependencies, lacking, installs) => {
      const cwd = userFolder({ "package.json": JSON.stringify({ devDependencies }) });
      const { code, stderr } = await runCli(["init", "--client", kind], { cwd });
      expect([code, readdirSync(cwd).sort()]).toEqual([2, ["node_modules", "package.json"]]);
      expect(stderr).toContain(`the tests need ${lacking}, which package.json does not have`);
      const lines = [...stderr.matchAll(/^ {2}npm install --save-dev (.*)$/gm)].map(([, what]) => what);
      expect(lines).toEqual(installs);
    },
  );

  test.each([
    [
      "pytest",
      {},
      ["svc_sandbox, which python3 does not find", `install --save-dev ./${tarball}\n  python3 -m pip`],
    ],
    [
      "junit",
      { "build.gradle": "" },
      ["which build.gradle does not have", "into build.gradle:\n\n    <dependency>\n"],
    ],
    ["go", { "go.mod": "module mine\n" }, ["which go.mod does not have", "  go mod edit "]],
  ] as const)(
    "%s shows what it needs and writes nothing in a project with %j",
    async (kind, files, shown) => {
      const options = withPython(files, 1);
      const { code, stdout, stderr } = await runCli(["init", "--client", kind], options);
      expect([code, stdout]).toEqual([2, ""]);
      for (const one of shown) expect(stderr).toContain(one);
      expect(stderr).toContain(`\nThen run this again: svc-sandbox init --client ${kind}\n`);
      expect(readdirSync(options.cwd).sort()).toEqual(["bin", ...Object.keys(files)]);
    },
  );

  test("from the single executable unpacks the file of npm pack without npm", async () => {
    asExecutable();
    const { stderr } = await runCli(["init", "--client", "go"], { cwd: temporaryFolder() });
    expect(stderr).toMatch(
      /\n {2}tar -xzf .*\n {2}go mod init .*\n {2}module=.*\n {2}go mod edit .*\n {2}go mod edit .*=\.\/package\/packaging\/go\n/,
    );
  });

  test.each([
    ["pytest", "pip install pytest ./node_modules/svc-sandbox/packaging/python"],
    ["junit", "mvn --file ./node_modules/svc-sandbox/packaging/java install"],
    ["go", "-replace=$module=./node_modules/svc-sandbox/packaging/go"],
  ])("%s is installed from the npm package if a project has it", async (kind, shown) => {
    const { env } = withPython({}, 1);
    expect((await runCli(["init", "--client", kind], { cwd: userFolder(), env })).stderr).toContain(shown);
  });
});

test("init --agent adds one section to AGENTS.md, which names the package's file or a copy of it", async () => {
  const cwd = temporaryFolder({ "AGENTS.md": "# Mine\n" });
  for (const says of [/^Added a section/, /already has the section/]) {
    expect((await runCli(["init", "--agent"], { cwd })).stderr).toMatch(says);
  }
  const text = readFileSync(join(cwd, "AGENTS.md"), "utf8");
  expect(text).toMatch(/^# Mine\n\n## svc-sandbox\n\nRead svc-sandbox\.AGENTS\.md before /);
  expect(readFileSync(join(cwd, "svc-sandbox.AGENTS.md"), "utf8")).toBe(pageOf("docs/agents.md"));
  const installed = userFolder();
  await runCli(["init", "--agent"], { cwd: installed });
  expect(readFileSync(join(installed, "AGENTS.md"), "utf8")).toContain(
    "Read ./node_modules/svc-sandbox/AGENTS.md before",
  );
});

test("init --agent keeps the line ends of AGENTS.md", async () => {
  const cwd = temporaryFolder({ "AGENTS.md": "# Mine\r\n" });
  await runCli(["init", "--agent"], { cwd });
  const text = readFileSync(join(cwd, "AGENTS.md"), "utf8");
  expect(text).toMatch(/^# Mine\r\n\r\n## svc-sandbox\r\n/);
  expect(text.replaceAll("\r\n", "")).not.toContain("\n");
});

test.each([
  [["--agent"], "AGENTS.md"],
  [["--client", "node"], "package.json"],
])("init %j names a file that cannot be read, and writes nothing", async (flags, file) => {
  const cwd = temporaryFolder({ [`${file}/a.txt`]: "" });
  const { code, stderr } = await runCli(["init", ...flags], { cwd });
  expect([code, stderr]).toEqual([2, `Failed to read "${file}": it is a directory.\n`]);
  expect(readdirSync(cwd)).toEqual([file]);
});

test("init --agent keeps a svc-sandbox.AGENTS.md of the user", async () => {
  const cwd = temporaryFolder({ "svc-sandbox.AGENTS.md": "# Mine\n" });
  expect((await runCli(["init", "--agent"], { cwd })).stderr).toMatch(/^Added a section/);
  expect(readFileSync(join(cwd, "svc-sandbox.AGENTS.md"), "utf8")).toBe("# Mine\n");
});

test("init --agent adds its section next to those of other packages, whose names are longer", async () => {
  const cwd = temporaryFolder({ "AGENTS.md": "## svc-sandbox-java\n\n### svc-sandbox\n" });
  expect((await runCli(["init", "--agent"], { cwd })).stderr).toMatch(/^Added a section/);
  expect(readFileSync(join(cwd, "AGENTS.md"), "utf8")).toMatch(/\n## svc-sandbox\n/);
});

test("init --agent from the single executable writes command lines that need no Node.js", async () => {
  asExecutable();
  const cwd = temporaryFolder();
  await runCli(["init", "--agent"], { cwd });
  for (const name of ["AGENTS.md", "svc-sandbox.AGENTS.md"]) {
    const text = readFileSync(join(cwd, name), "utf8");
    expect(text).not.toMatch(/npx|next to this file/);
    expect(text).toMatch(/[`\n]svc-sandbox exec --format json /);
  }
});

test("the single executable refers to no file of the package, but to pages of a running sandbox", async () => {
  asExecutable();
  const wrong = await runCli(["init", "--client", "curl"]);
  expect(wrong.stderr).toContain("http://127.0.0.1:4747/__sandbox/docs/languages of a running sandbox");
  const help = await runCli(["--help"]);
  expect(help.stdout).toMatch(/init --agent/);
  const texts = wrong.stderr + help.stdout;
  expect(texts).not.toMatch(/in the package|node_modules/);
});

test("init --client keeps the line ends of package.json", async () => {
  const before = '{\r\n\t"devDependencies": { "svc-sandbox": "1.0.0" }\r\n}\r\n';
  const cwd = userFolder({ "package.json": before });
  expect((await runCli(["init", "--client", "node"], { cwd })).code).toBe(0);
  const text = readFileSync(join(cwd, "package.json"), "utf8");
  expect(text).toContain('\r\n\t\t"test:sandbox"');
  expect(text.replaceAll("\r\n", "")).not.toContain("\n");
});

test("init --client refuses a package.json whose scripts are no object, and leaves it as it is", async () => {
  const before = '{ "devDependencies": { "svc-sandbox": "1.0.0" }, "scripts": "x" }';
  const cwd = userFolder({ "package.json": before });
  const { code, stderr } = await runCli(["init", "--client", "node"], { cwd });
  expect([code, readFileSync(join(cwd, "package.json"), "utf8")]).toEqual([2, before]);
  expect(stderr).toContain("scripts in");
});

test("init --client keeps the byte order mark of package.json, and refuses a list", async () => {
  const cwd = userFolder({ "package.json": '\uFEFF{ "devDependencies": { "svc-sandbox": "1.0.0" } }' });
  expect((await runCli(["init", "--client", "node"], { cwd })).code).toBe(0);
  expect(readFileSync(join(cwd, "package.json"), "utf8")).toMatch(/^\uFEFF\{[\s\S]*"test:sandbox"/);

  const list = await runCli(["init", "--client", "node"], { cwd: userFolder({ "package.json": "[]" }) });
  expect(list).toMatchObject({ code: 2, stderr: expect.stringContaining("is not an object") });
});
