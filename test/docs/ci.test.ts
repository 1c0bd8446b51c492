import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../../scripts/run-program.js";
import { coverage, coverageText } from "../support/coverage.js";
import { blockWith, pageOf, root } from "../support/pages.js";
import { probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { userFolder } from "../support/temporary-folder.js";

// The scripts of the action and the templates run as a runner runs them, with the package as it is built in the place of the
// published one. `npm run examples` checks their published schemas.

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: {
    readonly steps: readonly [
      {
        readonly run: string;
        readonly env: Readonly<Record<string, string>>;
        readonly "working-directory": string;
      },
    ];
  };
}

const action = parse(pageOf("action.yml")) as Action;
const [step] = action.runs.steps;

// A client that covers 200.test and, when asked to, 401.revoked with a query, or covers five paths and checks them.
const client = `
const call = (key, query = "") => fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me" + query, { headers: { "x-api-key": key } });
await call(process.env.SVC_API_KEY);
if (process.argv[2] === "careful") for (const [ref, status] of Object.entries({ ACTIVE: 200, LIVE: 200, REVOKED: 401, EXPIRED: 401, WRONG_SCOPE: 403 }))
  if ((await call(process.env["SVC_KEY_" + ref])).status !== status) process.exit(1);
if (process.argv[2] === "careless") await call(process.env.SVC_KEY_REVOKED, "?fields=scopes");
`;
const project = { "client.mjs": client, "package.json": '{ "scripts": { "test": "node client.mjs" } }' };

/** Runs the action's step as a runner does; responds with its end, its outputs and its summary. */
async function runAction(given: Readonly<Record<string, string>>, { npx = "", files = {}, env = {} } = {}) {
  const folder = userFolder({ ...project, "temp/.keep": "", output: "", summary: "", ...files });
  if (npx !== "") {
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/npx"), npx, { mode: 0o755 });
  }
  const inputs: Record<string, string> = Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: usual = "" }]) => [name, given[name] ?? usual]),
  );
  const filled = (text: string) =>
    text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name) => inputs[name] ?? `no input ${name}`);
  writeFileSync(join(folder, "script.sh"), step.run);
  const { code, stdout, stderr } = await runProgram(
    "bash",
    ["--noprofile", "--norc", "-eo", "pipefail", join(folder, "script.sh")],
    {
      cwd: join(folder, filled(step["working-directory"])),
      env: {
        ...Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, filled(value)])),
        ...{ PATH: `${join(folder, "bin")}:${process.env.PATH}`, GITHUB_ACTIONS: "true" },
        ...{ GITHUB_ACTION: "run", GITHUB_OUTPUT: join(folder, "output") },
        ...{ GITHUB_STEP_SUMMARY: join(folder, "summary"), GITHUB_WORKSPACE: folder },
        RUNNER_TEMP: join(folder, "temp"),
        ...env,
      },
    },
  );
  const fileOf = (name: string) => readFileSync(join(folder, name), "utf8");
  const set = Object.fromEntries(
    fileOf("output")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/=(.*)/, 2)),
  );
  const outputs = Object.fromEntries(
    Object.entries(action.outputs).map(([name, { value }]) => [
      name,
      set[/^\$\{\{ steps\.run\.outputs\.(\w+) \}\}$/.exec(value)?.[1] ?? ""],
    ]),
  );
  return { code, stdout, stderr, outputs, summary: fileOf("summary"), fileOf, folder };
}

describe("action.yml", () => {
  test("writes no input into its script, and reads each one", () => {
    expect(step.run).not.toContain("${{");
    const read = Object.values({ ...step.env, folder: step["working-directory"] });
    expect(read.sort()).toEqual(
      Object.keys(action.inputs)
        .map((name) => `\${{ inputs.${name} }}`)
        .sort(),
    );
    expect(Object.keys(step.env).filter((name) => !step.run.includes(name))).toEqual([]);
  });

  test("runs the command, and leaves outputs, a summary and a report", async () => {
    const { code, stderr, outputs, summary, fileOf } = await runAction({
      command: "npm test",
      report: "report.xml",
    });
    expect([code, stderr]).toEqual([0, expect.stringContaining(coverageText(1))]);
    expect(outputs).toMatchObject({
      coverage: String(coverage(1).percent),
      verdict: "passed",
      report: "report.xml",
    });
    expect(summary).toMatch(new RegExp(`^# ${coverageText(1)}`));
    expect(fileOf("report.xml")).toMatch(/^<\?xml/);
  });

  test("fails below a threshold, with annotations; the report is JSON without a name", async () => {
    const given = { command: "node client.mjs careless", "min-coverage": "50", "fail-on": "warning" };
    const { code, stderr, outputs, folder } = await runAction(given);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^::warning title=svc-sandbox query-or-body-sent::/m);
    expect(stderr).toMatch(/^::error title=(?:npx --no-install )?svc-sandbox --min-coverage 50::/m);
    expect(stderr).toMatch(/^::error title=(?:npx --no-install )?svc-sandbox --fail-on warning::/m);
    expect(outputs).toMatchObject({
      coverage: "11",
      verdict: "failed",
      report: join(folder, "temp/svc-sandbox-run.json"),
    });
    expect(JSON.parse(readFileSync(outputs.report as string, "utf8")).coverage.percent).toBe(11);
  });

  test.each([
    ["a command that fails", { command: "npm test\nexit 7\nnode client.mjs careless" }, 7, "5"],
    ["a first line that fails", { command: "false\nnpm test" }, 1, "0"],
  ])("hands on the code of %s", async (_, given, code, coverage) => {
    const ran = await runAction(given as Record<string, string>);
    expect([ran.code, ran.outputs.verdict, ran.outputs.coverage]).toEqual([code, "failed", coverage]);
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ["no command", { command: "" }, "The input command is empty: set it to the command to run."],
    ["certify that is no flag", { command: "true", certify: "yes 100%" }, "The input certify is not valid"],
    ["attest without certify", { command: "true", attest: "true" }, "The input attest needs a certificate"],
    ["a scenario that does not exist", { command: "true", scenario: "nobody" }, '"nobody"'],
    [
      "a scenario that is a flag",
      { command: "true", scenario: "--port=1" },
      "The input scenario starts with -",
    ],
    ...["scenario", "min-coverage", "fail-on", "version", "report"].flatMap((name) =>
      ["\n", "\r", "\r\n"].map(
        (end) =>
          [
            `a line break in ${name}`,
            { command: "true", [name]: `1${end}verdict=passed${end}::error::forged` },
            `The input ${name} has a line break`,
          ] as [string, Record<string, string>, string],
      ),
    ),
  ])("%s is an annotation and in the summary", async (_, given, why) => {
    const { code, stderr, outputs, summary, fileOf } = await runAction(given);
    const annotations = stderr.split("\n").filter((line) => line.startsWith("::error title=svc-sandbox::"));
    expect([code, outputs.verdict, annotations]).toEqual([2, "failed", [expect.stringContaining(why)]]);
    expect(summary).toMatch(/^# svc-sandbox did not run\n\n(?: {4}.*\n)+$/);
    expect(
      fileOf("output")
        .split("\n")
        .map((line) => line.split("=", 1)[0]),
    ).toEqual([..."coverage verdict report certificate".split(" "), ""]);
    expect(summary).toContain(why);
  });

  test("takes inputs word by word, and a folder; the report is relative to the workspace", async () => {
    const files = {
      "in here/own file.yaml":
        "version: 1\norganizations: { bank: { type: bank, keys: { 'main': { environment: test } } } }\n",
    };
    const command = `test "$(printf '%s' "it's \\"one\\"")" = "it's \\"one\\"" && node ../client.mjs`;
    const given = { command, scenario: "own file.yaml", "working-directory": "in here", report: "a b.md" };
    const { code, outputs, fileOf } = await runAction(given, { files });
    expect([code, outputs.verdict, fileOf("a b.md")]).toEqual([
      0,
      "passed",
      expect.stringMatching(/own file\.yaml/),
    ]);
  });

  test("certifies a client that has passed, when asked to", async () => {
    const env = { SVC_SANDBOX_SEEDS: "0" };
    const { code, outputs, summary } = await runAction(
      { command: "npm test careful", certify: "true" },
      { env },
    );
    expect([code, outputs.verdict]).toEqual([0, "passed"]);
    expect(JSON.parse(readFileSync(outputs.certificate as string, "utf8"))).toMatchObject({
      verdict: "passed",
    });
    expect(summary.startsWith(`# ${coverageText(5)}`)).toBe(true);
    expect(summary).toMatch(/^\| verdict \| passed \|$/m);
    const onlyOnce = { command: "npm test\ntest ! -e ran\ntouch ran", certify: "TRUE" };
    const again = await runAction(onlyOnce, { env });
    expect([again.code, again.outputs.verdict, again.outputs.coverage]).toEqual([1, "failed", "5"]);
    const failing = await runAction({ command: "exit 3", certify: "true" }, { env });
    expect([failing.code, failing.outputs.certificate]).toEqual([3, ""]);
  });

  test("signs the certificate on request, after the client has passed", () => {
    const attest: unknown = action.runs.steps[1 as 0];
    expect(attest).toEqual({
      if: "inputs.attest == 'true'",
      uses: expect.stringMatching(/^actions\/attest-build-provenance@[0-9a-f]{40}$/),
      with: { "subject-path": action.outputs.certificate?.value },
    });
  });

  test("requests the given version from npx", async () => {
    const npx = '#!/bin/sh\necho "$@"\n';
    const { code, stdout } = await runAction({ command: "true", version: "1.2.3" }, { npx });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^--yes svc-sandbox@1\.2\.3 exec --report /)]);
  });
});

describe("docs/ci.md", () => {
  test("the workflow gives the action inputs and outputs that it has", () => {
    const text = blockWith("docs/ci.md", "yaml", "id: sandbox");
    const workflow = parse(text);
    const used = workflow.jobs.sandbox.steps.find(({ id }: { id?: string }) => id === "sandbox");
    expect(Object.keys(used.with).filter((name) => action.inputs[name] === undefined)).toEqual([]);
    const outputs = [...text.matchAll(/steps\.sandbox\.outputs\.(\w+)/g)].map(([, name = ""]) => name);
    expect(outputs.filter((name) => action.outputs[name] === undefined)).toEqual([]);
  });

  test("lists every input and output", () => {
    const rows = [...pageOf("docs/ci.md").matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual([...Object.keys(action.inputs), ...Object.keys(action.outputs)]);
  });

  test("the job for GitLab runs, with its coverage in the log and its report in a file", async () => {
    const { sandbox: job } = parse(blockWith("docs/ci.md", "yaml", "junit:"));
    const cwd = userFolder(project);
    const lines = (job.script as string[]).filter((line) => line !== "npm ci");
    expect(lines).toHaveLength(1);
    const { code, output } = await runProgram("bash", ["-eo", "pipefail", "-c", lines.join("\n")], { cwd });
    expect([code, new RegExp(job.coverage.slice(1, -1)).exec(output)?.[1]]).toEqual([5, "5"]);
    expect(readFileSync(join(cwd, job.artifacts.reports.junit), "utf8")).toMatch(/^<\?xml/);
    expect(JSON.parse(readFileSync(join(cwd, job.artifacts.paths[0]), "utf8")).coverage.percent).toBe(5);
  });

  const nightly = parse(blockWith("docs/ci.md", "yaml", "schedule:"));
  const scheduled = parse(blockWith("docs/ci.md", "yaml", '== "schedule"'));
  const [install, ofGithub] = nightly.jobs.check.steps.flatMap(({ run }: { run?: string }) => run ?? []);

  test("a schedule starts both nightly jobs", () => {
    expect(Object.keys(nightly.on)).toContain("schedule");
    expect(scheduled.check.rules).toEqual([{ if: '$CI_PIPELINE_SOURCE == "schedule"' }]);
    expect(nightly.jobs.check.steps.at(-1)).toMatchObject({ if: "always()", with: { path: "check.json" } });
    expect(scheduled.check.artifacts).toEqual({ when: "always", paths: ["check.json"] });
    expect([install, scheduled.check.script[0]]).toEqual(["npm ci", "npm ci"]);
  });

  test.each<[string, string]>([
    ["GitHub", ofGithub],
    ["GitLab", scheduled.check.script.slice(1).join("\n")],
  ])("the nightly job for %s fails when something differs, and keeps the report", async (_, check) => {
    let status = 401;
    const { url } = await serveProbed((reply) => {
      if (reply.status === 401) setIn(reply, "status", status);
    });
    const cwd = userFolder(project);
    const night = async () => {
      const script = check.replace("https://api.example", url);
      const { code } = await runProgram("bash", ["-eo", "pipefail", "-c", script], { cwd, env: probeKeys });
      return [code, JSON.parse(readFileSync(join(cwd, "check.json"), "utf8")).verdict];
    };
    expect(await night()).toEqual([0, "agrees"]);
    status = 403;
    expect(await night()).toEqual([1, "differs"]);
  });
});

test("every archive of docs/install.md is built and tried", () => {
  const workflow = parse(pageOf(".github/workflows/release.yml"));
  const { build, try: tried } = workflow.jobs;
  const archives = tried.strategy.matrix.include.map(({ archive }: { archive: string }) => archive).sort();
  const built = build.strategy.matrix.include.flatMap(({ words }: { words: string }) => words.split(" "));
  expect(built.filter((word: string) => !word.startsWith("--")).sort()).toEqual(
    archives.map((archive: string) => archive.split(".")[0]),
  );
  const named = (text: string) => [
    ...new Set([...text.matchAll(/svc-sandbox-([a-z]+-\w+\.(?:tar\.gz|zip))/g)].map(([, name]) => name)),
  ];
  expect(named(pageOf("docs/install.md")).sort()).toEqual(archives);
});

test("each action has a full hash and its version, one for each major version, and this project's own its version", () => {
  const files = [".github", "docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const read = ["action.yml", "README.md", ...files.filter((file) => !file.includes("node_modules"))]
    .filter((file) => /\.(?:ya?ml|md)$/.test(file))
    .flatMap((file) =>
      [...pageOf(file).matchAll(/^[ -]*uses: (.+)$/gm)].map(([, used = ""]) => ({ file, used })),
    );
  const isOwn = ({ used }: { used: string }) => used.startsWith("svc-sandbox/");
  const { version } = JSON.parse(pageOf("package.json"));
  expect(read.filter(isOwn).map(({ used }) => used)).toEqual([`svc-sandbox/svc-sandbox@v${version}`]);
  const others = read.filter((one) => !isOwn(one));
  const pinned = /^([\w-]+\/[\w-]+)[\w/-]*@[0-9a-f]{40} # v(\d+)\.\d+\.\d+$/;
  expect(others.filter(({ used }) => !pinned.test(used))).toEqual([]);
  const hashes = new Map<string, Set<string>>();
  for (const { used } of others) {
    const [, name, major] = pinned.exec(used) as RegExpExecArray;
    const known = hashes.get(`${name} ${major}`) ?? new Set();
    hashes.set(`${name} ${major}`, known.add(used.replace(/^.*@/, "")));
  }
  expect([...hashes].filter(([, all]) => all.size > 1)).toEqual([]);
  expect(hashes.size).toBeGreaterThan(9);
});
