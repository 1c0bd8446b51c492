import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../../scripts/run-program.js";
import { createSandbox } from "../../src/index.js";
import { coverageText } from "../support/coverage.js";
import { blockWith, pageOf, root } from "../support/pages.js";
import { probeKeys, serveProbed, setIn } from "../support/probed-server.js";
import { runCli } from "../support/run-cli.js";
import { userFolder } from "../support/temporary-folder.js";

// The jobs of the pages run as a runner runs them, with the built package. `npm run examples` checks their schemas.

// A client that covers 200.test.
const client = `await fetch(process.env.SVC_BASE_URL + "/v1/relying-party/me", { headers: { "x-api-key": process.env.SVC_API_KEY } });`;
const project = { "client.mjs": client, "package.json": '{ "scripts": { "test": "node client.mjs" } }' };

describe("the jobs of docs/ci.md and docs/compare.md", () => {
  test("the step for GitHub runs, with the coverage in the job's summary and its report in a file", async () => {
    const { sandbox: job } = parse(blockWith("docs/ci.md", "yaml", "on: [push]")).jobs;
    const cwd = userFolder({ ...project, summary: "" });
    const lines = job.steps.flatMap(({ run }: { run?: string }) => (run === "npm ci" ? [] : (run ?? [])));
    expect(lines).toHaveLength(1);
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(cwd, "summary") };
    const { code } = await runProgram("bash", ["-eo", "pipefail", "-c", lines.join("\n")], { cwd, env });
    expect(code).toBe(5);
    expect(readFileSync(join(cwd, "summary"), "utf8")).toMatch(new RegExp(`^# ${coverageText(1)}`));
    const upload = job.steps.at(-1).with;
    expect(readFileSync(join(cwd, upload.path), "utf8")).toMatch(/^<\?xml/);
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

  test("the lines in the background run the client with the keys of the sandbox, and stop it", async () => {
    const cwd = userFolder(project);
    const lines = blockWith("docs/ci.md", "sh", "--detach").replace("--min-coverage 80", "--min-coverage 5");
    const path = [join(cwd, "node_modules/.bin"), process.env.PATH].join(delimiter);
    const env = { PATH: path, SVC_SANDBOX_PORT: "0" };
    const { code, output } = await runProgram("bash", ["-ec", lines], { cwd, env });
    expect([code, output]).toEqual([0, expect.stringContaining(coverageText(1))]);
  });

  test("the nightly line fails when something differs, and keeps the report", async () => {
    const job = blockWith("docs/compare.md", "sh", "comparison.json");
    let status = 401;
    const { url } = await serveProbed((reply) => {
      if (reply.status === 401) setIn(reply, "status", status);
    });
    const cwd = userFolder(project);
    const night = async () => {
      const script = job.replace("https://api.example", url);
      const { code } = await runProgram("bash", ["-eo", "pipefail", "-c", script], { cwd, env: probeKeys });
      return [code, JSON.parse(readFileSync(join(cwd, "comparison.json"), "utf8")).verdict];
    };
    expect(await night()).toEqual([0, "agrees"]);
    status = 403;
    expect(await night()).toEqual([1, "differs"]);
  });
});

test("the rules for gitleaks name real keys, no key of a sandbox, and no file with only these", async () => {
  // Python reads the file: gitleaks itself is on no registry of packages.
  const read = "import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.argv[1])))";
  const { stdout } = await runProgram("python3", ["-c", read, blockWith("docs/recipes.md", "toml")]);
  const { rules, allowlists } = JSON.parse(stdout);
  const [rule] = rules;
  const matchesOne = (patterns: readonly string[], text: string) =>
    patterns.some((pattern) => new RegExp(pattern).test(text));
  const findings = (text: string) =>
    [...text.matchAll(new RegExp(rule.regex, "g"))]
      .map(([key]) => key)
      .filter((key) => !matchesOne(rule.allowlists[0].regexes, key));

  const { stdout: ownKeys } = await runCli(["keys", "--format", "env"]);
  const nightly = { organization: "harvest-bank", environment: "live", name: "Nightly" } as const;
  const created = createSandbox().keys.create(nightly).secret;
  const realKeys = ["SVC_live_", "legacysvc_test_"].map((prefix) => prefix + "k9Xw2Qb7".repeat(4));
  expect(ownKeys).toMatch(new RegExp(rule.regex));
  expect(findings([ownKeys, created, ...realKeys].join("\n"))).toEqual(realKeys);

  const paths = ["sandbox.env", "deploy/sandbox.env", "mysandbox.env", "sandbox.env.ts"];
  expect(paths.filter((path) => matchesOne(allowlists[0].paths, path))).toEqual(paths.slice(0, 2));
});

test("every archive of docs/start.md is built and tried", () => {
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
  expect(named(pageOf("docs/start.md")).sort()).toEqual(archives);
});

test("each action has a full hash and its version, one for each major version", () => {
  const files = [".github", "docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const read = ["README.md", ...files.filter((file) => !file.includes("node_modules"))]
    .filter((file) => /\.(?:ya?ml|md)$/.test(file))
    .flatMap((file) =>
      [...pageOf(file).matchAll(/^[ -]*uses: (.+)$/gm)].map(([, used = ""]) => ({ file, used })),
    );
  const pinned = /^([\w-]+\/[\w-]+)[\w/-]*@[0-9a-f]{40} # v(\d+)\.\d+\.\d+$/;
  expect(read.filter(({ used }) => !pinned.test(used))).toEqual([]);
  const hashes = new Map<string, Set<string>>();
  for (const { used } of read) {
    const [, name, major] = pinned.exec(used) as RegExpExecArray;
    const known = hashes.get(`${name} ${major}`) ?? new Set();
    hashes.set(`${name} ${major}`, known.add(used.replace(/^.*@/, "")));
  }
  expect([...hashes].filter(([, all]) => all.size > 1)).toEqual([]);
  expect(hashes.size).toBeGreaterThan(9);
});
